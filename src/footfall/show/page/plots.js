// The plots: curves over time on canvas, with one cursor and one zoom for all of them.

const GUTTER = 54, RIGHT = 10, TOP = 6, BOTTOM = 20, DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3]];

// About `count` round numbers between two limits.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999), out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(i * step);
  return { values: out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// A number with as many digits as a plot of that height can tell apart.
function written(value, height) {
  if (value === null || Number.isNaN(value)) return "–";
  const text = value.toFixed(clamp(4 - Math.ceil(Math.log10(height) - 1e-9), 0, 9));
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

class Plot {
  constructor(panel, page) {
    this.panel = panel;
    this.page = page;
    this.hidden = new Set();
    const root = (this.root = document.createElement("section"));
    root.className = "plot";
    root.innerHTML = `<h3></h3><div class="legend"></div><div class="area"><canvas></canvas><div class="cursor"></div><div class="zoom" hidden></div></div>`;
    root.querySelector("h3").textContent = panel.title + (panel.unit ? ` (${panel.unit})` : "");
    this.canvas = root.querySelector("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${panel.title}${panel.unit ? ` in ${panel.unit}` : ""} over time in s`);
    this.area = root.querySelector(".area");
    // Names that do not fit beside their rows stand above them.
    this.long = Boolean(panel.rows) && panel.rows.some((row) => row.name.length > 9);
    this.pitch = this.long ? 29 : 17;
    this.area.style.height = panel.rows ? `${panel.rows.length * this.pitch + BOTTOM + TOP}px` : "150px";
    this.cursor = root.querySelector(".cursor");
    this.box = root.querySelector(".zoom");
    this.legend = root.querySelector(".legend");
    this.entries = panel.curves.map((curve, i) => this.entry(curve, i));
    this.height = 1;
    for (const line of panel.lines || []) this.fixed(line.label, `<line class="limit" x1="0" y1="4" x2="22" y2="4" stroke-dasharray="3 3"/>`);
    for (const band of panel.bands || []) this.fixed(band.name, `<rect class="band" width="22" height="8"/>`);
    if (panel.rows)
      this.legend.innerHTML = ["open", "stick", "slide"].map((m) => `<span class="key"><i class="swatch ${m}"></i>${m}</span>`).join("");
    this.listen();
  }

  fixed(name, drawing) {
    const key = document.createElement("span");
    key.className = "key";
    key.innerHTML = `<svg width="22" height="8" aria-hidden="true">${drawing}</svg><span></span>`;
    key.querySelector("span").textContent = name;
    this.legend.append(key);
  }

  entry(curve, i) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "key";
    button.setAttribute("aria-pressed", "true");
    button.title = "show or hide this curve";
    button.innerHTML = `<svg width="22" height="8" aria-hidden="true"><line x1="0" y1="4" x2="22" y2="4" stroke-width="2.4"/></svg><span></span> <output></output>`;
    button.querySelector("span").textContent = curve.name;
    button.addEventListener("click", () => {
      this.hidden.has(i) ? this.hidden.delete(i) : this.hidden.add(i);
      button.setAttribute("aria-pressed", String(!this.hidden.has(i)));
      this.draw();
    });
    this.legend.append(button);
    return { button, line: button.querySelector("line"), output: button.querySelector("output") };
  }

  listen() {
    let from = null;
    const time = (event) => this.timeAt(event.clientX - this.area.getBoundingClientRect().left);
    this.area.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      from = { x: event.clientX, time: time(event), touch: event.pointerType !== "mouse" };
      this.area.setPointerCapture(event.pointerId);
      if (from.touch) this.page.seek(from.time);
    });
    this.area.addEventListener("pointermove", (event) => {
      if (!from) return this.page.hover(time(event));
      if (from.touch) return this.page.seek(time(event));
      const left = Math.min(from.x, event.clientX) - this.area.getBoundingClientRect().left;
      Object.assign(this.box.style, { left: `${left}px`, width: `${Math.abs(event.clientX - from.x)}px` });
      this.box.hidden = Math.abs(event.clientX - from.x) < 5;
    });
    this.area.addEventListener("pointerup", (event) => {
      if (from && !from.touch) {
        const to = time(event);
        Math.abs(event.clientX - from.x) < 5 ? this.page.seek(to) : this.page.zoom(Math.min(from.time, to), Math.max(from.time, to));
      }
      from = null;
      this.box.hidden = true;
    });
    this.area.addEventListener("pointercancel", () => { from = null; this.box.hidden = true; });
    this.area.addEventListener("pointerleave", () => this.page.hover(null));
    this.area.addEventListener("dblclick", () => this.page.zoom(...this.page.span));
  }

  x(time) {
    const [low, high] = this.page.window;
    return GUTTER + ((time - low) / (high - low)) * (this.area.clientWidth - GUTTER - RIGHT);
  }

  timeAt(x) {
    const [low, high] = this.page.window, part = (x - GUTTER) / (this.area.clientWidth - GUTTER - RIGHT);
    return clamp(mix(low, high, part), low, high);
  }

  // Least and greatest of what is visible, with some room.
  range() {
    const [from, to] = this.page.window, { panel } = this;
    let low = Infinity, high = -Infinity;
    const see = (x, y) => {
      const last = Math.min(x.length - 1, before(x, to) + 1);
      for (let i = before(x, from); i <= last; i++) {
        if (y[i] < low) low = y[i];
        if (y[i] > high) high = y[i];
      }
    };
    panel.curves.forEach((c, i) => this.hidden.has(i) || see(c.x, c.y));
    for (const band of panel.bands || []) { see(band.x, band.low); see(band.x, band.high); }
    if (panel.zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    for (const line of panel.lines || []) if (line.y > low) high = Math.max(high, line.y);
    if (!(low <= high)) [low, high] = [0, 1];
    // What differs by rounding only is a straight line, not noise blown up to the height of the plot.
    const least = Math.max(panel.narrow || 0, 1e-4 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    const room = 0.07 * (high - low);
    return [panel.zero && low === 0 ? 0 : low - room, high + room];
  }

  draw() {
    const { canvas, panel, page } = this, theme = page.theme, ratio = window.devicePixelRatio || 1;
    const width = this.area.clientWidth, height = this.area.clientHeight, right = width - RIGHT, bottom = height - BOTTOM;
    if (!width) return;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "11px system-ui, sans-serif";
    const [low, high] = panel.rows ? [0, 1] : this.range();
    this.height = high - low;
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - TOP);
    g.strokeStyle = theme.text("grid");
    g.fillStyle = theme.text("muted");
    g.textBaseline = "middle";
    g.beginPath();
    if (!panel.rows) {
      const scale = ticks(low, high, (bottom - TOP) / 32);
      g.textAlign = "right";
      for (const value of scale.values) {
        const at = Math.round(y(value)) + 0.5;
        g.moveTo(GUTTER, at);
        g.lineTo(right, at);
        g.fillText(value.toFixed(scale.digits).replace("-", "−"), GUTTER - 6, at);
      }
    }
    const times = ticks(...page.window, (right - GUTTER) / 80);
    g.textAlign = "center";
    for (const value of times.values) {
      const at = Math.round(this.x(value)) + 0.5;
      g.moveTo(at, TOP);
      g.lineTo(at, bottom);
      g.fillText(value.toFixed(times.digits) + (value === times.values[times.values.length - 1] ? " s" : ""), Math.min(at, right - 8), bottom + 11);
    }
    g.stroke();
    g.save();
    g.beginPath();
    g.rect(GUTTER, TOP - 2, right - GUTTER, bottom - TOP + 4);
    if (panel.rows) this.drawRows(g, theme, right);
    g.clip();
    for (const band of panel.bands || []) this.drawBand(g, band, y, theme);
    for (const line of panel.lines || []) {
      g.strokeStyle = theme.text("muted");
      g.setLineDash([3, 3]);
      g.beginPath();
      g.moveTo(GUTTER, y(line.y));
      g.lineTo(right, y(line.y));
      g.stroke();
    }
    g.lineWidth = 1.5;
    g.lineJoin = "round";
    panel.curves.forEach((curve, i) => {
      const color = curve.color < 0 ? theme.text("muted") : theme.palette[curve.color % theme.palette.length];
      const dash = DASHES[curve.dash % DASHES.length];
      this.entries[i].line.style.stroke = color;
      this.entries[i].line.setAttribute("stroke-dasharray", dash.join(" "));
      if (this.hidden.has(i)) return;
      g.strokeStyle = color;
      g.setLineDash(dash);
      g.beginPath();
      const from = before(curve.x, page.window[0]), to = Math.min(curve.x.length - 1, before(curve.x, page.window[1]) + 1);
      for (let k = from, down = false; k <= to; k++) {
        const gap = Number.isNaN(curve.y[k]);
        if (!gap) down ? g.lineTo(this.x(curve.x[k]), y(curve.y[k])) : g.moveTo(this.x(curve.x[k]), y(curve.y[k]));
        down = !gap;
      }
      g.stroke();
    });
    g.restore();
    this.mark();
  }

  drawBand(g, band, y, theme) {
    g.fillStyle = theme.text("band");
    for (let i = 0, start = -1; i <= band.x.length; i++) {
      const gap = i === band.x.length || Number.isNaN(band.low[i]);
      if (!gap && start < 0) start = i;
      if (!gap || start < 0) continue;
      g.beginPath();
      for (let k = start; k < i; k++) g.lineTo(this.x(band.x[k]), y(band.high[k]));
      for (let k = i - 1; k >= start; k--) g.lineTo(this.x(band.x[k]), y(band.low[k]));
      g.fill();
      start = -1;
    }
  }

  drawRows(g, theme, right) {
    this.panel.rows.forEach((row, r) => {
      const top = TOP + this.pitch * (r + 1) - 17;
      for (let i = 0; i < row.mode.length; i++) {
        const from = Math.max(GUTTER, this.x(row.start[i])), to = Math.min(right, this.x(row.end[i]));
        g.fillStyle = theme.modes[row.mode[i]];
        g.globalAlpha = row.mode[i] ? 1 : 0.25;
        if (to > from || (this.x(row.start[i]) >= GUTTER && this.x(row.start[i]) <= right)) g.fillRect(from, top + 1, Math.max(to - from, 1), 14);
      }
      g.globalAlpha = 1;
      g.textAlign = this.long ? "left" : "right";
      g.fillStyle = theme.text("muted");
      g.fillText(row.name, this.long ? GUTTER : GUTTER - 6, this.long ? top - 5 : top + 8.5);
    });
  }

  // The value of a curve at a time: between its samples, nothing outside or in a gap.
  value(curve, time) {
    const i = before(curve.x, time), j = Math.min(i + 1, curve.x.length - 1), span = curve.x[j] - curve.x[i];
    if (time < curve.x[0] - 1e-6 || time > curve.x[curve.x.length - 1] + 1e-6) return null;
    return span > 0 ? mix(curve.y[i], curve.y[j], clamp((time - curve.x[i]) / span, 0, 1)) : curve.y[i];
  }

  // Put the cursor at the time under the pointer, else at that of the replay.
  mark() {
    const time = this.page.hovered ?? this.page.time, at = this.x(time);
    this.cursor.style.transform = `translateX(${at}px)`;
    this.cursor.hidden = at < GUTTER - 1 || at > this.area.clientWidth - RIGHT + 1;
    this.panel.curves.forEach((curve, i) => (this.entries[i].output.textContent = written(this.value(curve, time), this.height)));
  }
}
