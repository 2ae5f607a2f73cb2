"use strict";
/* The map: rows as points on a canvas, with hover, zoom and one selected cluster.
   Written by hand because it is the only figure that needs a script, and a plotting
   library would be most of the file; docs/report.md has the numbers. */

const unpack = (text, Type) =>
  new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

function makeMap(canvas, data, show) {
  const labels = unpack(data.labels, Uint16Array);
  const maps = data.maps.map((text) => unpack(text, Int16Array));
  const count = labels.length;
  const clusters = new Map(data.clusters.map((c) => [c.label, c]));
  const radius = count < 600 ? 4.6 : count < 2500 ? 3.7 : count < 6000 ? 2.9 : 2.4;
  const home = { zoom: 1, x: 0, y: 0 };
  let view = { ...home };
  let xy = maps[0];
  let selected = null;
  let hovered = -1;
  let colors = [];
  let shade = null; // per point: the number of its colour, when not coloured by cluster
  let anchors = [];
  let width = 0;
  let height = 0;
  let bounds;
  let waiting = false;

  /* Places on the canvas. */

  function measure() {
    bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (let i = 0; i < count; i++) {
      bounds.left = Math.min(bounds.left, xy[2 * i]);
      bounds.right = Math.max(bounds.right, xy[2 * i]);
      bounds.top = Math.min(bounds.top, -xy[2 * i + 1]);
      bounds.bottom = Math.max(bounds.bottom, -xy[2 * i + 1]);
    }
    anchors = findAnchors();
  }

  function scale() {
    const room = 22;
    const spanX = Math.max(bounds.right - bounds.left, 1);
    const spanY = Math.max(bounds.bottom - bounds.top, 1);
    const fit = Math.min((width - 2 * room) / spanX, (height - 2 * room) / spanY);
    return fit * view.zoom;
  }

  function placer() {
    const s = scale();
    const middleX = (bounds.left + bounds.right) / 2;
    const middleY = (bounds.top + bounds.bottom) / 2;
    return {
      x: (i) => (xy[2 * i] - middleX) * s + width / 2 + view.x,
      y: (i) => (-xy[2 * i + 1] - middleY) * s + height / 2 + view.y,
    };
  }

  /* The point of each cluster that is nearest to its median carries its number: a
     median by itself may lie between two islands. */
  function findAnchors() {
    const found = [];
    for (const label of clusters.keys()) {
      const mine = [];
      for (let i = 0; i < count; i++) if (labels[i] === label) mine.push(i);
      const median = (offset) => {
        const sorted = mine.map((i) => xy[2 * i + offset]).sort((a, b) => a - b);
        return sorted[sorted.length >> 1];
      };
      const x = median(0);
      const y = median(1);
      const distance = (i) => (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
      const nearest = mine.reduce((a, b) => (distance(b) < distance(a) ? b : a));
      found.push({ label, point: nearest });
    }
    return found;
  }

  /* Drawing. */

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    colors = data.clusters.map((c) => read(`--c${c.color}`));
    colors.ten = Array.from({ length: 10 }, (_, i) => read(`--c${i}`));
    colors.ink = read("--ink");
    colors.quiet = read("--quiet");
    colors.panel = read("--panel");
  }

  function outline(pen, shape, x, y, r) {
    pen.beginPath();
    if (shape === "circle") pen.arc(x, y, r, 0, 7);
    else if (shape === "square") pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
    else {
      const corners = shape === "diamond" ? 4 : 3;
      for (let i = 0; i < corners; i++) {
        const turn = (2 * Math.PI * i) / corners - Math.PI / 2;
        pen.lineTo(x + 1.35 * r * Math.cos(turn), y + 1.35 * r * Math.sin(turn));
      }
      pen.closePath();
    }
  }

  /* One small picture a cluster, stamped for each of its points: ten thousand stamps
     take a few milliseconds, ten thousand paths do not. */
  function stamps(r, ratio) {
    const side = Math.ceil(4 * r * ratio);
    return new Map(
      data.clusters.map((cluster, i) => {
        const stamp = document.createElement("canvas");
        stamp.width = stamp.height = side;
        const pen = stamp.getContext("2d");
        pen.scale(ratio, ratio);
        pen.fillStyle = colors[i];
        pen.strokeStyle = colors.panel;
        pen.lineWidth = 0.7;
        outline(pen, cluster.shape, side / ratio / 2, side / ratio / 2, r);
        pen.fill();
        // An edge tells neighbours apart, but it would eat up small marks.
        if (r > 3) pen.stroke();
        return [cluster.label, stamp];
      }),
    );
  }

  /* The same for colours of a column: steps from light to dark, or categories. */
  function shades(r, ratio) {
    const side = Math.ceil(4 * r * ratio);
    return shade.colors().map((color) => {
      const stamp = document.createElement("canvas");
      stamp.width = stamp.height = side;
      const pen = stamp.getContext("2d");
      pen.scale(ratio, ratio);
      pen.fillStyle = color;
      outline(pen, "circle", side / ratio / 2, side / ratio / 2, r);
      pen.fill();
      return stamp;
    });
  }

  function draw() {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const at = placer();
    const r = radius * Math.min(Math.sqrt(view.zoom), 2.5);
    const images = stamps(r, ratio);
    const half = images.size ? images.values().next().value.width / ratio / 2 : 0;
    const tinted = shade && shades(r, ratio);
    const image = (i) => (shade ? tinted[shade.of(i)] : images.get(labels[i]));
    const stampAll = (wanted, alpha) => {
      pen.globalAlpha = alpha;
      for (let i = 0; i < count; i++) {
        if (!wanted(labels[i])) continue;
        pen.drawImage(image(i), at.x(i) - half, at.y(i) - half, 2 * half, 2 * half);
      }
    };
    if (selected === null) stampAll(() => true, 0.85);
    else {
      stampAll((label) => label !== selected, 0.09);
      stampAll((label) => label === selected, 0.95);
    }
    pen.globalAlpha = 1;
    if (hovered >= 0) {
      pen.strokeStyle = colors.ink;
      pen.lineWidth = 2;
      outline(pen, clusters.get(labels[hovered]).shape, at.x(hovered), at.y(hovered), r + 3);
      pen.stroke();
    }
    drawNumbers(pen, at);
  }

  function drawNumbers(pen, at) {
    pen.font = "700 15px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 5;
    pen.strokeStyle = colors.panel;
    pen.fillStyle = colors.ink;
    for (const { label, point } of anchors) {
      if (selected !== null && label !== selected) continue;
      const text = called(label);
      pen.strokeText(text, at.x(point), at.y(point));
      pen.fillText(text, at.x(point), at.y(point));
    }
  }

  /* A name that was given, cut where it is long; else the number. */
  function called(label) {
    const name = clusters.get(label).name;
    if (name === `Cluster ${label}`) return String(label);
    return name.length > 22 ? `${name.slice(0, 21)}…` : name;
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  }

  /* What the pointer does. */

  function nearest(x, y, reach) {
    const at = placer();
    let best = -1;
    let least = reach * reach;
    for (let i = 0; i < count; i++) {
      if (selected !== null && labels[i] !== selected) continue;
      const distance = (at.x(i) - x) ** 2 + (at.y(i) - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  function local(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function hover(event, reach) {
    const found = nearest(...local(event), reach);
    if (found !== hovered) redraw();
    hovered = found;
    canvas.classList.toggle("over", found >= 0);
    show.tip(found, event);
  }

  function leave() {
    if (hovered >= 0) redraw();
    hovered = -1;
    show.tip(-1);
  }

  function zoomAt(factor, x, y) {
    const zoom = Math.min(Math.max(view.zoom * factor, 1), 60);
    const change = zoom / view.zoom;
    view.x = x - width / 2 - (x - width / 2 - view.x) * change;
    view.y = y - height / 2 - (y - height / 2 - view.y) * change;
    view.zoom = zoom;
    if (zoom === 1) view = { ...home };
    // One finger scrolls the page until the map is zoomed in; then it moves the map.
    canvas.style.touchAction = zoom > 1 ? "none" : "pan-y";
    leave();
    redraw();
  }

  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return hover(event, 12);
    const dx = event.clientX - before.clientX;
    const dy = event.clientY - before.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 2) {
      const other = [...fingers.values()].find((f) => f.pointerId !== event.pointerId);
      const apart = (f) => Math.hypot(f.clientX - other.clientX, f.clientY - other.clientY);
      zoomAt(apart(event) / Math.max(apart(before), 1), ...local(event));
    } else if (moved > 4) {
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("dragging");
      // Half of the map stays in sight, however far it is dragged.
      const keep = (place, room) => Math.min(Math.max(place, -room), room);
      view.x = keep(view.x + dx, (width * view.zoom) / 2);
      view.y = keep(view.y + dy, (height * view.zoom) / 2);
      leave();
      redraw();
    }
    fingers.set(event.pointerId, event);
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    lift(event);
    if (event.pointerType === "mouse") leave();
  });
  canvas.addEventListener("click", (event) => {
    if (moved > 4) return;
    if (event.pointerType === "touch") return hover(event, 24);
    const found = nearest(...local(event), 12);
    show.select(found < 0 ? null : labels[found]);
  });
  canvas.addEventListener("dblclick", (event) => zoomAt(2, ...local(event)));
  canvas.addEventListener(
    "wheel",
    (event) => {
      // A page that scrolls must not stop at the map.
      if (!event.ctrlKey && !event.metaKey) return show.hint();
      event.preventDefault();
      zoomAt(Math.exp(-event.deltaY / 350), ...local(event));
    },
    { passive: false },
  );
  new ResizeObserver(() => {
    const box = canvas.getBoundingClientRect();
    [width, height] = [box.width, box.height];
    redraw();
  }).observe(canvas);

  measure();
  readColors();
  return {
    labels,
    select(label) {
      selected = label;
      leave();
      redraw();
    },
    choose(number) {
      xy = maps[number];
      view = { ...home };
      measure();
      leave();
      redraw();
    },
    zoom(factor) {
      zoomAt(factor || 1 / view.zoom, width / 2, height / 2);
    },
    /* A function from points to colours, or null for clusters. */
    paint(next) {
      shade = next;
      redraw();
    },
    colors: () => colors,
    redraw,
    /* Brings a point to the middle, and tells of it. */
    goTo(i) {
      view = { zoom: Math.max(view.zoom, 3), x: 0, y: 0 };
      const at = placer();
      view.x = width / 2 - at.x(i);
      view.y = height / 2 - at.y(i);
      hovered = i;
      redraw();
      const box = canvas.getBoundingClientRect();
      show.tip(i, { clientX: box.left + width / 2, clientY: box.top + height / 2 });
    },
    recolor() {
      readColors();
      redraw();
    },
    leave,
  };
}
