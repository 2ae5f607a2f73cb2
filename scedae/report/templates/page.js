/* What ties the page together: tooltip, selection, theme, copying. All text from the
   data goes through textContent, so that none of it can be taken for markup. */
(() => {
  const one = (query) => document.querySelector(query);
  const all = (query) => [...document.querySelectorAll(query)];
  const data = JSON.parse(one("#points").textContent);
  const values = unpack(data.values, Float32Array);
  const confidence = unpack(data.confidence, Uint8Array);
  const byLabel = new Map(data.clusters.map((c) => [c.label, c]));
  let selected = null;

  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const readable = (value) =>
    Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(4)));

  function fillTip(tip, i) {
    const label = map.labels[i];
    const cluster = byLabel.get(label);
    const mark = element("i", `mark ${cluster.shape}`);
    mark.style.background = `var(--c${cluster.color})`;
    const what = element("div", "what");
    what.append(mark, `${cluster.name} · confidence ${(confidence[i] / 255).toFixed(2)}`);
    tip.replaceChildren();
    if (data.pictures) {
      const picture = element("span", "picture");
      picture.style.setProperty("--x", i % data.pictures.across);
      picture.style.setProperty("--y", Math.floor(i / data.pictures.across));
      tip.append(picture);
    }
    const list = element("dl");
    data.columns[label].slice(0, data.pictures ? 2 : undefined).forEach((name, j) => {
      const value = data.cells ? data.cells[i][j] : readable(values[i * data.valuesPerRow + j]);
      list.append(element("dt", "", name), element("dd", "", value));
    });
    tip.append(element("div", "id", `Row ${data.ids[i]}`), what, list);
  }

  function showTip(i, event) {
    const tip = one("#tip");
    tip.hidden = i < 0;
    if (i < 0) return;
    fillTip(tip, i);
    const box = tip.getBoundingClientRect();
    const fits = event.clientX + 18 + box.width < innerWidth;
    const x = fits ? event.clientX + 18 : Math.max(event.clientX - 18 - box.width, 8);
    const y = Math.min(Math.max(event.clientY - box.height / 2, 8), innerHeight - box.height - 8);
    tip.style.transform = `translate(${x}px, ${y}px)`;
  }

  function select(label) {
    selected = label === selected ? null : label;
    for (const button of all("[data-cluster]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.cluster) === selected));
    }
    for (const card of all("[data-card]")) {
      card.classList.toggle("selected", Number(card.dataset.card) === selected);
    }
    one("#clear").hidden = selected === null;
    map.select(selected);
  }

  let fading;
  function showHint() {
    one("#hint").classList.add("seen");
    clearTimeout(fading);
    fading = setTimeout(() => one("#hint").classList.remove("seen"), 900);
  }

  const map = makeMap(one("#plot"), data, { tip: showTip, select, hint: showHint });

  for (const button of all("[data-cluster]")) {
    button.addEventListener("click", () => select(Number(button.dataset.cluster)));
  }
  one("#clear").addEventListener("click", () => select(null));
  addEventListener("keydown", (event) => event.key === "Escape" && select(null));
  addEventListener("scroll", map.leave, { passive: true });

  for (const button of all("[data-map]")) {
    button.addEventListener("click", () => {
      for (const other of all("[data-map]")) other.setAttribute("aria-pressed", String(other === button));
      for (const note of all("[data-note]")) note.hidden = note.dataset.note !== button.dataset.map;
      map.choose(Number(button.dataset.map));
    });
  }
  for (const button of all("[data-zoom]")) {
    button.addEventListener("click", () => map.zoom(Number(button.dataset.zoom)));
  }

  /* Names of clusters: given on the cards, shown everywhere. */
  function callThem() {
    for (const place of all("[data-called]")) {
      const cluster = byLabel.get(Number(place.dataset.called));
      const given = cluster.name !== `Cluster ${cluster.label}`;
      place.textContent = given ? cluster.name : cluster.label;
      place.title = cluster.name;
    }
    map.redraw();
  }
  for (const field of all("[data-name]")) {
    field.addEventListener("input", () => {
      const label = Number(field.dataset.name);
      byLabel.get(label).name = field.value.trim() || `Cluster ${label}`;
      callThem();
    });
  }
  callThem();

  /* Colours of the map. */
  const STEPS = 24;
  const ramp = (share) => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    const light = dark ? 35 + 50 * share : 85 - 60 * share;
    return `hsl(${250 - 190 * share} ${45 + 30 * share}% ${light}%)`;
  };
  const ramps = () => Array.from({ length: STEPS + 1 }, (_, i) => (i < STEPS ? ramp(i / (STEPS - 1)) : map.colors().quiet));
  function shadeBy(choice) {
    if (choice === "cluster") return null;
    if (choice === "confidence") {
      return { of: (i) => Math.min(Math.floor((confidence[i] / 256) * STEPS), STEPS - 1), colors: ramps, low: "0", high: "1" };
    }
    const column = data.about[Number(choice)];
    const bytes = unpack(column.bytes, Uint8Array);
    if (!column.levels) {
      const of = (i) => (bytes[i] === 255 ? STEPS : Math.min(Math.floor((bytes[i] / 255) * STEPS), STEPS - 1));
      return { of, colors: ramps, low: column.low, high: column.high };
    }
    const colors = () => [...column.levels.map((_, i) => map.colors().ten[i % 10]), map.colors().quiet];
    return { of: (i) => (bytes[i] === 255 ? column.levels.length : bytes[i]), colors, levels: column.levels };
  }
  function showKey(shade) {
    const key = one("#key");
    key.replaceChildren();
    key.hidden = shade === null;
    if (shade === null) return;
    const colors = shade.colors();
    if (shade.levels) {
      shade.levels.forEach((level, i) => {
        const item = element("span");
        const dot = element("i");
        dot.style.background = colors[i];
        item.append(dot, level);
        key.append(item);
      });
    } else {
      const bar = element("b");
      bar.style.background = `linear-gradient(90deg, ${colors.slice(0, STEPS).join(",")})`;
      key.append(element("span", "", shade.low), bar, element("span", "", shade.high));
    }
  }
  let shade = null;
  function paint(next) {
    shade = next;
    map.paint(shade);
    showKey(shade);
  }
  const slider = one("#layer");
  one("#color").addEventListener("change", (event) => {
    if (slider) {
      slider.value = data.layers.own;
      one("#layer-number").textContent = slider.value;
    }
    paint(shadeBy(event.target.value));
  });

  /* Other numbers of clusters: the layers of the same fit. */
  const pieces = slider ? unpack(data.layers.pieces, Uint8Array) : null;
  function shadeByLayer(count) {
    if (count === data.layers.own) return null;
    const names = data.layers.names[count - 2];
    const each = Array.from({ length: count }, (_, i) => i);
    const colors = () => each.map((i) => map.colors().ten[i % 10]);
    return { of: (i) => names[pieces[i]], colors, levels: count > 20 ? [] : each.map(String) };
  }
  if (slider) {
    slider.addEventListener("input", () => {
      one("#layer-number").textContent = slider.value;
      one("#color").value = "cluster";
      paint(shadeByLayer(Number(slider.value)));
    });
  }

  /* Search: the same id, else one that begins so, else one that has it inside. */
  one("#find").addEventListener("input", (event) => {
    const text = event.target.value.trim().toLowerCase();
    const found = one("#found");
    found.textContent = "";
    if (!text) return;
    const ids = data.ids.map((id) => id.toLowerCase());
    let i = ids.indexOf(text);
    if (i < 0) i = ids.findIndex((id) => id.startsWith(text));
    if (i < 0) i = ids.findIndex((id) => id.includes(text));
    if (i < 0) {
      found.textContent = "No row on the map has such an id.";
      return;
    }
    found.textContent = `Row ${data.ids[i]}: ${byLabel.get(map.labels[i]).name}`;
    if (selected !== null && selected !== map.labels[i]) select(null);
    map.goTo(i);
  });

  /* What is selected, as a file. */
  const cell = (value) => {
    const text = /^[=+@-]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  one("#export").addEventListener("click", () => {
    const lines = ["id,label,name,confidence"];
    data.ids.forEach((id, i) => {
      const label = map.labels[i];
      if (selected !== null && label !== selected) return;
      lines.push([cell(id), label, cell(byLabel.get(label).name), (confidence[i] / 255).toFixed(2)].join(","));
    });
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = selected === null ? "clusters.csv" : `cluster-${selected}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  });

  const system = matchMedia("(prefers-color-scheme: dark)");
  const recolor = () => {
    map.recolor();
    showKey(shade);
  };
  system.addEventListener("change", recolor);
  one("#theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    root.dataset.theme = dark ? "light" : "dark";
    recolor();
  });

  if (navigator.clipboard) {
    one("#copy").hidden = false;
    one("#copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText(one("#code").textContent);
      one("#copy").textContent = "Copied";
    });
  }
})();
