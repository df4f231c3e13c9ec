// A run under way: frames arrive as events and are kept for looking back; the page commands pause, speed, law, pushes.

const KEPT = 4096, RECENT = 10; // frames that are kept, s that the plots show

// Rows of numbers that grow at the end; when there are too many the older half is dropped.
class Track {
  constructor(shape, Type = Float32Array) {
    Object.assign(this, { shape, row: shape.reduce((a, b) => a * b, 1), count: 0 });
    this.data = new Type(this.row * KEPT);
  }

  push(values) {
    if (this.count === KEPT) {
      this.data.copyWithin(0, (KEPT / 2) * this.row);
      this.count = KEPT / 2;
    }
    this.data.set(values.map((value) => (value === null ? NaN : value)), this.count++ * this.row);
    return this.view();
  }

  view() {
    return Object.assign(this.data.subarray(0, this.count * this.row), { shape: [this.count, ...this.shape] });
  }
}

class Live {
  constructor(data, page) {
    Object.assign(this, { data, page, run: data.runs[0], drag: null, frames: 0, said: "" });
    const { run } = this, bodies = run.body_position.shape[1], points = run.mode.shape[1];
    const shapes = {
      body_position: [bodies, 3], body_quaternion: [bodies, 4], point: [points, 3], force: [points, 3], mode: [points], normal: [points, 3],
      cop: [run.cop.shape[1], 3], overall_cop: [3], zmp: [3], com: [3], com_ground: [3], push_point: [1, 3], pushForce: [3],
    };
    this.tracks = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, new Track(shape)]));
    this.time = new Track([], Float64Array);
    for (const panel of data.panels)
      for (const curve of panel.curves) {
        curve.track = new Track([]);
        [curve.x, curve.y] = [new Float64Array([0]), new Float32Array([NaN])];
      }
  }

  connect(show) {
    this.show = show;
    this.describe(this.data.live.law);
    const source = new EventSource("events");
    source.onmessage = (message) => this.take(JSON.parse(message.data));
    source.onerror = () => this.say("the run is no longer served");
    source.onopen = () => this.say("");
  }

  take(event) {
    if (event.law) {
      this.data.live.friction = event.friction;
      return this.describe(event.law);
    }
    if ("walk" in event) {
      this.data.live.walk = event.walk;
      return this.describe(this.law);
    }
    if ("restart" in event) return this.rewind(event.restart);
    if (event.fell) return this.say(`${event.fell}. Press R to reset.`);
    if (event.command) return this.steer(event.command);
    if (event.error || event.ended || event.note) {
      this.noted = Boolean(event.note);
      return this.say(event.error || event.ended || event.note);
    }
    if (this.noted) this.say("");
    this.noted = false;
    if (event.ready) return;
    const { run, data, page } = this;
    for (const [name, track] of Object.entries(this.tracks)) run[name] = track.push(event.arrays[name]);
    run.time = this.time.push([event.time]);
    run.pushed = event.pushed;
    data.panels.forEach((panel, p) => panel.curves.forEach((curve, c) => {
      curve.x = run.time;
      curve.y = curve.track.push([event.values[p][c]]);
    }));
    this.frames++;
    const last = page.pushes[page.pushes.length - 1];
    if (event.pushed) last && last.open ? (last.end = event.time) : page.pushes.push({ start: event.time - 0.02, end: event.time, open: true });
    else if (last) last.open = false;
    this.show(run.time[0], event.time);
  }

  // Forget what came after a time, s: the run goes on from there.
  rewind(time) {
    const { run, data, page } = this;
    let count = 0;
    while (count < this.time.count && this.time.data[count] < time - 1e-9) count++;
    for (const track of [this.time, ...Object.values(this.tracks), ...data.panels.flatMap((panel) => panel.curves.map((curve) => curve.track))]) track.count = count;
    page.pushes = page.pushes.filter((push) => push.start < time);
    this.say("");
    if (!count) return;
    for (const [name, track] of Object.entries(this.tracks)) run[name] = track.view();
    run.time = this.time.view();
    for (const panel of data.panels) for (const curve of panel.curves) [curve.x, curve.y] = [run.time, curve.track.view()];
    this.show(run.time[0], run.time[count - 1]);
  }

  restart(time = 0) {
    this.page.playing = true;
    return this.command({ restart: time, pause: false });
  }

  command(asked) {
    return fetch("command", { method: "POST", body: JSON.stringify(asked) })
      .then((answer) => answer.json())
      .then((answer) => answer.error && this.say(answer.error))
      .catch(() => this.say("the run is no longer served"));
  }

  say(text) {
    this.said = text;
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  }

  // The law by name, its options to change, the parameters in use; friction, walking speed, pushes, reset.
  describe(law) {
    this.law = law;
    const box = document.getElementById("laws"), { laws, friction, walk, weight, push = 0.2 * weight, root, forward: [x, y] } = this.data.live;
    const slider = (id, name, low, high, value, unit) => `<label>${name} <input id="${id}" type="range" min="${low}" max="${high}" step="any" value="${value}"><output for="${id}">${Number(value.toPrecision(3))} ${unit}</output></label>`;
    box.innerHTML = `<span><button id="reset" type="button" title="start again (R)">Reset</button> <button id="here" type="button" title="go on from the time that is shown">Restart here</button></span><label>Law <select id="law"></select></label>${slider("friction", "Friction", 0, 1.5, friction, "")}${walk ? slider("walk", "Walking speed", 0, 2 * walk, walk, "m/s") : ""}<span class="together">${slider("push", "Push", 0, 2 * weight, push, "N")} ${["←", "→", "↑", "↓"].map((arrow, k) => `<button class="shove" type="button" data-way="${k}" title="push it for 0.1 s ${["to its left", "to its right", "forwards", "backwards"][k]}, as it faced at home">${arrow}</button>`).join(" ")}</span><details><summary>Options of the law</summary><span id="options"></span></details><p id="used"></p><p id="said" role="status"></p>`;
    const select = box.querySelector("select"), find = (id) => box.querySelector(`#${id}`);
    find("reset").addEventListener("click", () => this.restart());
    find("here").addEventListener("click", () => this.restart(this.page.shown));
    for (const id of ["friction", "walk", "push"]) {
      const input = find(id);
      if (!input) continue;
      input.addEventListener("input", () => (input.nextSibling.textContent = `${Number(Number(input.value).toPrecision(3))} ${{ friction: "", walk: "m/s", push: "N" }[id]}`));
      input.addEventListener("change", () => {
        this.data.live[id] = Number(input.value); // also of a push, for the sliders are made anew with each change
        if (id !== "push") this.command({ [id]: Number(input.value) });
      });
    }
    for (const button of box.querySelectorAll(".shove"))
      button.addEventListener("click", () => {
        const force = [[-y, x], [y, -x], [x, y], [-x, -y]][button.dataset.way].map((way) => way * Number(find("push").value));
        this.command({ shove: { body: root, force: [...force, 0], duration: 0.1 } });
      });
    select.append(...laws.map((name) => new Option(name, name, false, name === law.name)));
    const inputs = law.options.map((option) => {
      const label = document.createElement("label"), input = document.createElement("input");
      Object.assign(input, { type: "number", step: "any", value: option.value ?? "", placeholder: "derived", name: option.name });
      label.append(`${option.name} `, input);
      return label;
    });
    box.querySelector("#options").append(...inputs);
    box.querySelector("#used").textContent = law.used ? `in use: ${law.used}` : "";
    select.addEventListener("change", () => this.command({ law: { name: select.value, options: {} } }));
    for (const label of inputs)
      label.lastChild.addEventListener("change", () => {
        const options = Object.fromEntries(inputs.map((one) => [one.lastChild.name, one.lastChild.value === "" ? null : Number(one.lastChild.value)]));
        this.command({ law: { name: law.name, options } });
      });
    this.say(this.said);
  }

  // A slider for each number that a policy is asked for; those that are there follow what another page asks for.
  steer({ low, high, value }) {
    const there = document.querySelectorAll("#asked input");
    if (there.length === value.length)
      return there.forEach((input, i) => {
        if (input === document.activeElement) return;
        input.value = this.asked[i] = value[i];
        input.nextSibling.textContent = value[i].toFixed(2);
      });
    const names = value.length === 3 ? ["forward, m/s", "left, m/s", "turn, rad/s"] : value.map((_, i) => `command ${i + 1}`);
    const row = document.createElement("p"), asked = [...value];
    row.id = "asked";
    this.asked = asked;
    names.forEach((name, i) => {
      const label = document.createElement("label"), input = document.createElement("input"), shown = document.createElement("output");
      Object.assign(input, { type: "range", min: Math.min(low[i], value[i]), max: Math.max(high[i], value[i]), step: 0.01, value: value[i] });
      shown.textContent = value[i].toFixed(2);
      input.addEventListener("input", () => {
        asked[i] = Number(input.value);
        shown.textContent = asked[i].toFixed(2);
        this.command({ ask: asked });
      });
      label.append(`${name} `, input, shown, " ");
      row.append(label);
    });
    document.getElementById("asked")?.remove();
    document.getElementById("laws").after(row);
  }

  // Take hold of the body under the pointer; whether there is one that moves.
  grab(replay, x, y) {
    const hit = replay.pick(x, y);
    if (!hit || !this.data.live.bodies.includes(hit.name)) return false;
    this.drag = { body: hit.name, x, y };
    return true;
  }

  // Pull at the body: as hard as its weight when dragged by the robot's height.
  pull(replay, x, y) {
    const [right, down] = replay.axes(), { drag, data } = this;
    const way = vec.add(vec.scale(right, x - drag.x), vec.scale(down, y - drag.y));
    this.command({ push: { body: drag.body, force: vec.scale(way, 1 / data.scale) } });
  }

  release() {
    this.drag = null;
    this.command({ push: null });
  }
}
