"""What lies on disk: model files, and trainings that survive a kill."""

from scedae._storage.archive import (
    Archive,
    pack_encoder,
    read_archive,
    unpack_encoder,
    write_archive,
)
from scedae._storage.checkpoint import (
    Checkpoint,
    digest_of_rows,
    open_folder,
    remembered_seed,
    together,
)
from scedae._storage.model_file import (
    Packed,
    pack_pipeline,
    pack_refinement,
    pack_reports,
    pack_scaler,
    pack_spec,
    pack_view,
    unpack_candidate,
    unpack_graph,
    unpack_pipeline,
    unpack_refinement,
    unpack_reports,
    unpack_scaler,
    unpack_spec,
    unpack_view,
)
from scedae._storage.records import Record

__all__ = [
    "Archive",
    "Checkpoint",
    "Packed",
    "Record",
    "digest_of_rows",
    "open_folder",
    "pack_encoder",
    "pack_pipeline",
    "pack_refinement",
    "pack_reports",
    "pack_scaler",
    "pack_spec",
    "pack_view",
    "read_archive",
    "remembered_seed",
    "together",
    "unpack_candidate",
    "unpack_encoder",
    "unpack_graph",
    "unpack_pipeline",
    "unpack_refinement",
    "unpack_reports",
    "unpack_scaler",
    "unpack_spec",
    "unpack_view",
    "write_archive",
]
