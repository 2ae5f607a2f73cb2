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
    what.append(mark, `Cluster ${label} · confidence ${(confidence[i] / 255).toFixed(2)}`);
    tip.replaceChildren();
    if (data.pictures) {
      const picture = element("span", "picture");
      picture.style.setProperty("--x", i % data.pictures.across);
      picture.style.setProperty("--y", Math.floor(i / data.pictures.across));
      tip.append(picture);
    }
    const list = element("dl");
    data.columns[label].slice(0, data.pictures ? 2 : undefined).forEach((name, j) => {
      const value = values[i * data.valuesPerRow + j];
      list.append(element("dt", "", name), element("dd", "", readable(value)));
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

  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", map.recolor);
  one("#theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    root.dataset.theme = dark ? "light" : "dark";
    map.recolor();
  });

  if (navigator.clipboard) {
    one("#copy").hidden = false;
    one("#copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText(one("#code").textContent);
      one("#copy").textContent = "Copied";
    });
  }
})();
