// The plots: curves over time on canvas, with one cursor and one zoom for all of them.

const GUTTER = 54, RIGHT = 10, TOP = 6, BOTTOM = 20, DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3]];
const FONT = "11px system-ui, sans-serif";

// About `count` round numbers between two limits, at least two: one alone gives no scale.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999), out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(i * step);
  if (out.length < 2 && high > low) return ticks(low, high, 2 * Math.max(1, count));
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
    this.gutter = GUTTER;
    const root = (this.root = document.createElement("section"));
    root.className = panel.rows ? "plot rows" : "plot";
    root.innerHTML = `<h3></h3><div class="legend"></div><div class="area"><canvas></canvas><div class="cursor"></div><div class="zoom" hidden></div><div class="readout" hidden></div></div>`;
    this.heading = root.querySelector("h3");
    this.canvas = root.querySelector("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${panel.title}${panel.unit ? ` in ${panel.unit}` : ""} over time in s`);
    this.area = root.querySelector(".area");
    this.cursor = root.querySelector(".cursor");
    this.box = root.querySelector(".zoom");
    this.readout = root.querySelector(".readout");
    this.legend = root.querySelector(".legend");
    // Of several recordings one legend serves all plots, and the values stand beside the pointer.
    // What was measured belongs to no recording: it has its own key in either case.
    this.entries = panel.curves.map((curve, i) => (page.several && curve.run >= 0 ? null : this.entry(curve, i)));
    this.height = 1;
    for (const line of panel.lines || []) this.fixed(line.label, `<line class="limit" x1="0" y1="4" x2="22" y2="4" stroke-dasharray="3 3"/>`);
    if (panel.bands && panel.bands.length) this.fixed(panel.bands[0].name, `<rect class="band" width="22" height="8"/>`);
    if (panel.rows)
      this.legend.innerHTML = ["open", "stick", "slide"].map((m) => `<span class="key"><i class="swatch ${m}"></i>${m}</span>`).join("");
    if (!this.legend.children.length) this.legend.hidden = true;
    this.listen();
  }

  // Values of a curve as they are shown: its own, or their difference to the curve of the reference.
  shown(curve) {
    const { reference } = this.page;
    if (reference === null || this.panel.rows) return curve.y;
    if (curve.differenceTo !== reference) {
      const part = (one) => one.of ?? one.name.replace(this.page.names[one.run], "");
      const other = this.panel.curves.find((one) => one.run === reference && part(one) === part(curve));
      curve.differenceTo = reference;
      curve.difference = curve.y.map((y, i) => y - (other ? this.value(other, curve.x[i], other.y) ?? NaN : NaN));
    }
    return curve.difference;
  }

  isHidden(curve, i) {
    return this.hidden.has(i) || this.page.hiddenRuns.has(curve.run);
  }

  // Bands of the recordings that are shown.
  bands() {
    return (this.panel.bands || []).filter((band) => !this.page.hiddenRuns.has(band.run));
  }

  color(curve) {
    const { theme } = this.page;
    if (curve.role && theme.text(curve.role)) return theme.text(curve.role);
    return curve.color < 0 ? theme.text("muted") : theme.palette[curve.color % theme.palette.length];
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
      this.page.pointed = this;
      if (!from) return this.page.hover(time(event));
      if (from.touch) { this.page.seek(time(event)); return this.page.hover(time(event)); }
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
    this.area.addEventListener("pointerleave", () => { this.page.pointed = null; this.page.hover(null); });
    this.area.addEventListener("dblclick", () => this.page.zoom(...this.page.span));
  }

  x(time) {
    const [low, high] = this.page.window;
    return this.gutter + ((time - low) / (high - low)) * (this.area.clientWidth - this.gutter - RIGHT);
  }

  timeAt(x) {
    const [low, high] = this.page.window, part = (x - this.gutter) / (this.area.clientWidth - this.gutter - RIGHT);
    return clamp(mix(low, high, part), low, high);
  }

  // Least and greatest of what is visible, with some room; the start transient and what follows a fall may be left out.
  range() {
    const { panel, page } = this, [begin, to] = page.window;
    const from = page.trimmed && page.start < to ? Math.max(begin, page.start) : begin;
    let low = Infinity, high = -Infinity;
    const see = (x, y, run) => {
      const fall = page.trimmed ? page.falls[run] ?? Infinity : Infinity;
      const end = fall > from ? fall : Infinity, last = Math.min(x.length - 1, before(x, to) + 1);
      for (let i = before(x, from); i <= last; i++) {
        if (x[i] < from - 1e-9) continue;
        if (x[i] >= end) break;
        if (y[i] < low) low = y[i];
        if (y[i] > high) high = y[i];
      }
    };
    const plain = page.reference === null;
    panel.curves.forEach((c, i) => this.isHidden(c, i) || see(c.x, this.shown(c), c.run));
    if (plain) for (const band of this.bands()) { see(band.x, band.low, band.run); see(band.x, band.high, band.run); }
    if (panel.zero || !plain) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (plain) for (const line of panel.lines || []) if (line.y > low) high = Math.max(high, line.y);
    if (!(low <= high)) [low, high] = [0, 1];
    // What differs by rounding only is a straight line, not noise blown up to the height of the plot.
    const least = Math.max(panel.narrow || 0, 1e-4 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    const room = 0.07 * (high - low);
    return [panel.zero && low === 0 ? 0 : low - room, high + room];
  }

  draw() {
    const { canvas, panel, page } = this, theme = page.theme, ratio = window.devicePixelRatio || 1;
    const reference = page.reference === null || panel.rows ? "" : `, less that of ${page.names[page.reference]}`;
    this.heading.textContent = panel.title + reference + (panel.unit ? ` (${panel.unit})` : "");
    const g = canvas.getContext("2d"), width = this.area.clientWidth;
    if (!width) return;
    if (panel.rows) this.arrangeRows(g, width);
    const height = this.area.clientHeight, right = width - RIGHT, bottom = height - BOTTOM, left = this.gutter;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = FONT;
    const [low, high] = panel.rows ? [0, 1] : this.range();
    this.height = high - low;
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - TOP);
    g.save();
    g.beginPath();
    g.rect(left, TOP - 2, right - left, bottom - TOP + 4);
    g.clip();
    if (page.trimmed && !panel.rows && page.start > page.window[0]) {
      g.fillStyle = theme.text("grid");
      g.globalAlpha = 0.55;
      g.fillRect(left, TOP - 2, this.x(page.start) - left, bottom - TOP + 4);
      g.globalAlpha = 1;
    }
    g.fillStyle = theme.text("push-band");
    for (const push of page.pushes) g.fillRect(this.x(push.start), TOP - 2, Math.max(1.5, this.x(push.end) - this.x(push.start)), bottom - TOP + 4);
    g.restore();
    g.strokeStyle = theme.text("grid");
    g.fillStyle = theme.text("muted");
    g.textBaseline = "middle";
    g.beginPath();
    if (!panel.rows) {
      const scale = ticks(low, high, (bottom - TOP) / 32);
      g.textAlign = "right";
      for (const value of scale.values) {
        const at = Math.round(y(value)) + 0.5;
        g.moveTo(left, at);
        g.lineTo(right, at);
        g.fillText(value.toFixed(scale.digits).replace("-", "−"), left - 6, at);
      }
    }
    const times = ticks(...page.window, (right - left) / 80);
    g.textAlign = "center";
    for (const value of times.values) {
      const at = Math.round(this.x(value)) + 0.5;
      g.moveTo(at, TOP);
      g.lineTo(at, bottom);
      g.fillText(value.toFixed(times.digits) + (value === times.values[times.values.length - 1] ? " s" : ""), clamp(at, left, right - 8), bottom + 11);
    }
    g.stroke();
    g.save();
    if (panel.rows) this.drawRows(g, theme, right);
    g.beginPath();
    g.rect(left, TOP - 2, right - left, bottom - TOP + 4);
    g.clip();
    if (page.reference === null) {
      const bands = this.bands();
      g.globalAlpha = 1 / (bands.length || 1); // where those of several recordings agree they look like one
      for (const band of bands) this.drawBand(g, band, y, theme);
      g.globalAlpha = 1;
      for (const line of panel.lines || []) {
        g.strokeStyle = theme.text("muted");
        g.setLineDash([3, 3]);
        g.beginPath();
        g.moveTo(left, y(line.y));
        g.lineTo(right, y(line.y));
        g.stroke();
      }
    }
    g.lineJoin = "round";
    panel.curves.forEach((curve, i) => {
      const color = this.color(curve), dash = DASHES[curve.dash % DASHES.length];
      if (this.entries[i]) {
        this.entries[i].line.style.stroke = color;
        this.entries[i].line.setAttribute("stroke-dasharray", dash.join(" "));
      }
      if (this.isHidden(curve, i)) return;
      g.strokeStyle = g.fillStyle = color;
      g.lineWidth = 0.4 + curve.width;
      g.setLineDash(dash);
      g.beginPath();
      const values = this.shown(curve);
      const from = before(curve.x, page.window[0]), to = Math.min(curve.x.length - 1, before(curve.x, page.window[1]) + 1);
      for (let k = from, down = false; k <= to; k++) {
        const gap = Number.isNaN(values[k]);
        if (!gap) down ? g.lineTo(this.x(curve.x[k]), y(values[k])) : g.moveTo(this.x(curve.x[k]), y(values[k]));
        const alone = !gap && !down && (k === to || Number.isNaN(values[k + 1]));
        if (alone) g.fillRect(this.x(curve.x[k]) - 1.5, y(values[k]) - 1.5, 3, 3); // a line through it has no length
        down = !gap;
      }
      g.stroke();
    });
    g.restore();
    this.mark();
  }

  // Names of rows stand beside them where that leaves room for the rows, else above them.
  arrangeRows(g, width) {
    g.font = FONT;
    const longest = Math.max(...this.panel.rows.map((row) => g.measureText(row.name).width));
    this.above = longest + 14 > 0.3 * width;
    this.gutter = this.above ? 10 : Math.max(GUTTER, longest + 14);
    this.pitch = this.above ? 29 : 17;
    this.area.style.height = `${this.panel.rows.length * this.pitch + BOTTOM + TOP}px`;
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
    const left = this.gutter;
    this.panel.rows.forEach((row, r) => {
      const top = TOP + this.pitch * (r + 1) - 17;
      for (let i = 0; i < row.mode.length; i++) {
        const from = Math.max(left, this.x(row.start[i])), to = Math.min(right, this.x(row.end[i]));
        g.fillStyle = theme.modes[row.mode[i]];
        g.globalAlpha = row.mode[i] ? 1 : 0.25;
        if (to > from || (this.x(row.start[i]) >= left && this.x(row.start[i]) <= right)) g.fillRect(from, top + 1, Math.max(to - from, 1), 14);
      }
      g.globalAlpha = 1;
      g.textAlign = this.above ? "left" : "right";
      g.fillStyle = theme.text("muted");
      g.fillText(row.name, this.above ? left : left - 6, this.above ? top - 5 : top + 8.5);
    });
  }

  // The value of a curve at a time: between its samples, nothing outside or in a gap.
  value(curve, time, values = this.shown(curve)) {
    const i = before(curve.x, time), j = Math.min(i + 1, curve.x.length - 1), span = curve.x[j] - curve.x[i];
    if (time < curve.x[0] - 1e-6 || time > curve.x[curve.x.length - 1] + 1e-6) return null;
    const weight = span > 0 ? clamp((time - curve.x[i]) / span, 0, 1) : 0;
    return weight > 0 ? mix(values[i], values[j], weight) : values[i];
  }

  // Put the cursor at the time under the pointer, else at that of the replay.
  mark() {
    const time = this.page.hovered ?? this.page.time, at = this.x(time);
    this.cursor.style.transform = `translateX(${at}px)`;
    this.cursor.hidden = at < this.gutter - 1 || at > this.area.clientWidth - RIGHT + 1;
    this.entries.forEach((entry, i) => entry && (entry.output.textContent = written(this.value(this.panel.curves[i], time), this.height)));
    this.readout.hidden = this.page.pointed !== this || !this.page.several || !this.panel.curves.length;
    if (this.readout.hidden) return;
    const rows = this.panel.curves.filter((curve, i) => !this.isHidden(curve, i)).map((curve) => {
      const row = document.createElement("div"), swatch = document.createElement("i"), name = document.createElement("span"), value = document.createElement("output");
      swatch.className = "swatch";
      swatch.style.background = this.color(curve);
      [name.textContent, value.textContent] = [curve.name, written(this.value(curve, time), this.height)];
      row.append(swatch, name, value);
      return row;
    });
    this.readout.replaceChildren(...rows);
    const far = at > this.area.clientWidth / 2;
    Object.assign(this.readout.style, { left: far ? `${this.gutter + 4}px` : "auto", right: far ? "auto" : `${RIGHT + 4}px` });
  }
}
