"""Make the n-th thing that a writer does fail, for every n until none fails."""

from __future__ import annotations

import errno
import inspect
import os
import pathlib
import resource
import sys
from contextlib import contextmanager

import scedae

OWN = (os.path.dirname(scedae.__file__), pathlib.__file__)

# What runs after an error, and may not fail for lack of memory as well.
CLEANING = ("__exit__", "_recover", "delete")


class Fault:
    """Fails once, at the n-th call."""

    def __init__(self, number, error):
        self.number, self.error, self.calls = number, error, 0

    @property
    def happened(self):
        return self.calls >= self.number

    def step(self):
        self.calls += 1
        if self.calls == self.number:
            raise self.error


def failing(names, code):
    """The n-th call of some functions of ``os`` fails with an error of the system."""

    @contextmanager
    def inject(number):
        fault = Fault(number, OSError(code, os.strerror(code)))
        former = {name: getattr(os, name) for name in names}

        def wrapped(function):
            def call(*arguments, **named):
                fault.step()
                return function(*arguments, **named)

            return call

        for name, function in former.items():
            setattr(os, name, wrapped(function))
        try:
            yield fault
        finally:
            for name, function in former.items():
                setattr(os, name, function)

    return inject


def _is_cleaning(frame):
    while frame is not None and frame.f_code.co_name not in CLEANING:
        frame = frame.f_back
    return frame is not None


@contextmanager
def no_memory(number):
    """The n-th call inside the package fails, as an allocation may anywhere."""
    fault = Fault(number, MemoryError("no memory"))

    def watch(frame, event, argument):
        code = frame.f_code
        # Not where a generator goes on: an error there would skip its own handlers,
        # which no real error does.
        if code.co_flags & inspect.CO_GENERATOR or _is_cleaning(frame):
            return
        if event == "call" and code.co_filename.startswith(OWN):
            if fault.calls + 1 == fault.number:
                sys.setprofile(None)  # once: what cleans up after it has memory
            fault.step()

    sys.setprofile(watch)
    try:
        yield fault
    finally:
        sys.setprofile(None)


@contextmanager
def no_room(number, step):
    """No file may grow beyond so many bytes: as on a full disk, a write ends short."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    fault = Fault(number, None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (step * (number - 1), limits[1]))
    try:
        yield fault
        fault.calls = -1  # everything was written
    except BaseException:
        fault.calls = number
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def no_files(number):
    """So many more files may be open, and no more."""
    fault = Fault(number, None)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe + number - 1, limits[1]))
    try:
        yield fault
        fault.calls = -1
    except BaseException:
        fault.calls = number
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


KINDS = {
    "fsync: no space": failing(["fsync"], errno.ENOSPC),
    "fsync: bad disk": failing(["fsync"], errno.EIO),
    "rename: no space": failing(["replace", "rename"], errno.ENOSPC),
    "open: too many": failing(["open"], errno.EMFILE),
    "no memory": no_memory,
    "no room": lambda number: no_room(number, 997),
    "no files": no_files,
}
