// The page: one time for replay and plots, its controls and keys.

(() => {
  const data = unpackAll(JSON.parse(document.getElementById("footfall-data").textContent));
  const find = (id) => document.getElementById(id);
  const span = [Math.min(...data.runs.map((r) => r.time[0])), Math.max(...data.runs.map((r) => r.time[r.time.length - 1]))];
  if (span[1] <= span[0]) span[1] = span[0] + 1e-3;
  const page = {
    span, window: [...span], time: span[0], shown: span[0], hovered: null, pointed: null, playing: false, theme: readTheme(),
    several: data.runs.length > 1, names: data.runs.map((run) => run.label), reference: null, hiddenRuns: new Set(),
    start: data.start, falls: data.runs.map((run) => run.fall),
    trimmed: data.start > span[0] + 0.01 * (span[1] - span[0]) || data.runs.some((run) => run.fall !== null), // a start that short hides nothing
    pushes: [...new Map(data.runs.flatMap((run) => run.pushes).map((push) => [`${push.start} ${push.end}`, push])).values()],
  };
  const [play, slider, clock, speed, reset] = ["play", "scrub", "clock", "speed", "unzoom"].map(find);
  Object.assign(slider, { min: span[0], max: span[1], step: 0.001, value: span[0] });

  const live = data.live ? new Live(data, page) : null;
  let replay = null;
  try {
    replay = new Replay(find("view"), find("labels"), data);
    replay.time = page.time;
  } catch (error) {
    find("no-view").textContent = error.message;
    find("no-view").hidden = false;
  }
  const plots = data.panels.map((panel) => new Plot(panel, page));
  find("plots").append(...plots.map((plot) => plot.root));

  let waiting = false, last = 0;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(frame);
  };

  function frame(now) {
    waiting = false;
    if (page.playing && !live) {
      page.time += Math.min(0.1, (now - last) / 1000) * Number(speed.value);
      if (page.time >= span[1]) [page.time, page.playing] = [span[1], false];
    }
    last = now;
    show();
    if (page.playing && !live) redraw();
  }

  function show() {
    page.shown = page.time;
    slider.value = page.time;
    slider.setAttribute("aria-valuetext", `${page.time.toFixed(3)} s`);
    clock.textContent = `${page.time.toFixed(3)} / ${span[1].toFixed(3)} s`;
    play.setAttribute("aria-label", page.playing ? "Pause" : "Play");
    play.classList.toggle("playing", page.playing);
    if (replay) {
      replay.time = page.time;
      replay.draw();
    }
    plots.forEach((plot) => plot.mark());
  }

  page.seek = (time) => {
    page.time = clamp(time, ...span);
    redraw();
  };
  page.hover = (time) => {
    page.hovered = time;
    plots.forEach((plot) => plot.mark());
  };
  page.zoom = (low, high) => {
    page.window = high - low < 1e-4 ? [...span] : [low, high];
    reset.hidden = page.window[0] <= span[0] && page.window[1] >= span[1];
    plots.forEach((plot) => plot.draw());
  };
  page.toggle = (on = !page.playing) => {
    if (on && page.time >= span[1] - 1e-9) page.time = span[0];
    page.playing = on;
    last = performance.now();
    redraw();
  };
  if (live)
    page.toggle = (on = !page.playing) => {
      if (on === page.playing) return;
      page.playing = on;
      live.command({ pause: !on });
      redraw();
    };
  const step = (frames) => {
    if (live && frames > 0 && page.time >= span[1] - 1e-9) {
      page.playing = false;
      page.following = true;
      return live.command({ step: frames });
    }
    const times = data.runs.reduce((a, r) => (r.time.length > a.length ? r.time : a), data.runs[0].time);
    const here = before(times, page.time + 1e-9), inside = page.time > times[here] + 1e-9;
    page.toggle(false);
    page.seek(times[clamp(here + frames + (frames < 0 && inside ? 1 : 0), 0, times.length - 1)]);
  };

  play.addEventListener("click", () => page.toggle());
  slider.addEventListener("input", () => { page.toggle(false); page.seek(Number(slider.value)); });
  find("back").addEventListener("click", () => step(-1));
  find("next").addEventListener("click", () => step(1));
  find("large").addEventListener("click", (event) => {
    const on = document.body.classList.toggle("large");
    event.currentTarget.setAttribute("aria-pressed", String(on));
  });
  find("trim-label").hidden = !page.trimmed;
  find("trim").addEventListener("change", (event) => {
    page.trimmed = event.target.checked;
    plots.forEach((plot) => plot.draw());
  });
  for (const chip of document.querySelectorAll("[data-if]")) chip.hidden = !(chip.dataset.if === "several" ? page.several : page.pushes.length);
  if (live) speed.addEventListener("change", () => live.command({ speed: Number(speed.value) }));
  reset.addEventListener("click", () => page.zoom(...span));
  for (const box of document.querySelectorAll("[data-layer]")) {
    if (replay) box.checked = replay.layers[box.dataset.layer];
    box.addEventListener("change", () => {
      if (replay) replay.layers[box.dataset.layer] = box.checked;
      redraw();
    });
  }
  find("gain").addEventListener("input", (event) => {
    if (replay) replay.gain = 2 ** Number(event.target.value);
    redraw();
  });
  find("camera").addEventListener("change", (event) => {
    if (replay) replay.face(event.target.value);
    redraw();
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, select, button, summary, a")) return;
    const keys = {
      " ": () => page.toggle(),
      ArrowLeft: () => step(event.shiftKey ? -10 : -1),
      ArrowRight: () => step(event.shiftKey ? 10 : 1),
      Home: () => page.seek(span[0]),
      End: () => page.seek(span[1]),
      ...(live ? { r: () => live.restart(), R: () => live.restart() } : {}),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  if (window.innerWidth <= 640) document.querySelector(".layers").open = false;
  if (replay) steer(replay, redraw, live);
  const comparison = page.several ? new Compared(page, plots, replay, redraw) : null;
  const refresh = () => {
    page.theme = readTheme();
    if (comparison) comparison.paint();
    plots.forEach((plot) => plot.draw());
    redraw();
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  const go = () => {
    const asked = /[#&]t=([\d.]+)/.exec(location.hash);
    if (asked) page.seek(Number(asked[1]));
    return asked;
  };
  if (!go() && data.begin) page.seek(data.begin);
  const lookAt = () => go() && find("view").scrollIntoView({ block: "center" });
  window.addEventListener("hashchange", lookAt);
  // A second click on a link changes no address.
  for (const link of document.querySelectorAll('a[href^="#t="]')) link.addEventListener("click", () => setTimeout(lookAt));
  refresh();
  const measure = () => `${find("plots").clientWidth} ${find("view").clientWidth} ${find("view").clientHeight}`;
  let widths = measure();
  new ResizeObserver(() => {
    if (measure() !== widths) refresh();
    widths = measure();
  }).observe(document.body);

  if (live) {
    page.playing = true;
    live.connect((begin, end) => {
      const newest = page.playing || page.following || page.time >= span[1] - 1e-9, whole = reset.hidden;
      [span[0], span[1], page.following] = [begin, Math.max(end, begin + 1e-3), false];
      Object.assign(slider, { min: span[0], max: span[1] });
      if (newest) page.time = span[1];
      if (whole) page.window = [Math.max(span[0], span[1] - RECENT), Math.max(span[1], span[0] + 0.5)];
      if (whole && (live.frames === 1 || live.frames % 2 === 0)) plots.forEach((plot) => plot.draw());
      redraw();
    });
  }

  // For scripts and tests: what is shown now.
  window.footfall = {
    get time() { return page.shown; },
    get playing() { return page.playing; },
    get window() { return [...page.window]; },
    get layers() { return replay.layers; },
    get frames() { return live ? live.frames : 0; },
    get said() { return live ? live.said : ""; },
    pick: (x, y) => replay.pick(x, y),
    sample: (run = 0) => data.runs[run].sample[replay.drawn[run].at.nearest],
    arrow: (point, run = 0) => replay.arrow(point, run),
    touches: (run = 0) => replay.drawn[run].touches,
    cells: () => replay.views.map(({ x, y, width, height, runs }) => ({ x, y, width, height, runs })),
    pushes: (run = 0) => replay.drawn[run].pushes.map((push) => push.body),
    range: (plot) => plots[plot].range(),
    arrows: (run = 0) => replay.drawn[run].arrows.size,
    body: (name, run = 0) => {
      const { move, turn } = replay.drawn[run].bodies[data.robots[data.runs[run].robot].names.indexOf(name)];
      return { position: move, quaternion: turn };
    },
    values: () => plots.map((plot) => plot.panel.curves.map((curve) => [curve.name, plot.value(curve, page.time)])),
    seek: (time) => { if (page.playing) page.toggle(false); page.time = clamp(time, ...span); show(); },
    play: () => page.toggle(true),
    pause: () => page.toggle(false),
    zoom: page.zoom,
  };
})();

// Turn, shift and zoom the view with mouse, wheel or fingers.
function steer(replay, redraw, live) {
  const canvas = replay.canvas, fingers = new Map();
  const place = (event) => [event.clientX - canvas.getBoundingClientRect().left, event.clientY - canvas.getBoundingClientRect().top];
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (live && !event.shiftKey && event.button === 0 && !fingers.size && live.grab(replay, ...place(event))) return;
    fingers.set(event.pointerId, event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (live && live.drag) return live.pull(replay, ...place(event));
    const old = fingers.get(event.pointerId);
    if (!old) return;
    const [dx, dy] = [event.clientX - old.clientX, event.clientY - old.clientY];
    if (fingers.size === 2) {
      const other = [...fingers.values()].find((f) => f.pointerId !== event.pointerId);
      const reach = (f) => Math.hypot(f.clientX - other.clientX, f.clientY - other.clientY);
      replay.zoom(reach(old) / Math.max(1, reach(event)));
      replay.slide(dx / 2, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) replay.slide(dx, dy);
    else replay.orbit(dx, dy);
    fingers.set(event.pointerId, event);
    redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) 
    canvas.addEventListener(end, (event) => {
      if (live && live.drag) live.release();
      fingers.delete(event.pointerId);
    });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    replay.zoom(Math.exp(clamp(event.deltaY, -100, 100) * 0.0015));
    redraw();
  }, { passive: false });
}
