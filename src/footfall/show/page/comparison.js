// What only a page of several recordings has: one legend for all plots, sorting, and a reference to differ from.

// Units that suit a size, as in footfall.show.numbers: from which size on, by how much to multiply, and the name.
const SCALES = {
  m: [[1, 1, "m"], [1e-3, 1e3, "mm"], [0, 1e6, "µm"]],
  N: [[0.1, 1, "N"], [0, 1e3, "mN"]],
  J: [[0.1, 1, "J"], [0, 1e3, "mJ"]],
  "µs": [[1e6, 1e-6, "s"], [1e3, 1e-3, "ms"], [0, 1, "µs"]],
};

// A difference for people: in percent of the reference; as it is where the reference is nothing, or of another size.
function difference(value, reference, unit) {
  const signed = (text) => (text.startsWith("-") ? text.replace("-", "−") : `+${text}`);
  const change = value - reference, part = change / Math.abs(reference);
  if (change === 0 || Math.abs(part) < 5e-4) return "same";
  if (reference !== 0 && Math.abs(part) < 9.995 && value * reference >= 0) return `${signed((100 * part).toFixed(Math.abs(part) < 0.1 ? 1 : 0))} %`;
  const [, factor, name] = (SCALES[unit] || [[0, 1, unit]]).find(([least]) => Math.abs(change) >= least);
  return `${signed(String(Number((change * factor).toPrecision(3))))} ${name}`.trim();
}

class Compared {
  constructor(page, plots, replay, redraw) {
    Object.assign(this, { page, plots, replay, redraw });
    this.rows = [...document.querySelectorAll(".ranking tr[data-run]")];
    this.legend = document.getElementById("shared-legend");
    this.legend.hidden = false;
    this.keys = page.names.map((name, r) => this.key(name, r));
    this.sorted = { key: "", down: true };
    const sort = document.getElementById("sort"), reference = document.getElementById("reference");
    sort.addEventListener("change", () => this.sort(sort.value, true));
    for (const button of document.querySelectorAll("[data-sort]"))
      button.addEventListener("click", () => {
        sort.value = button.dataset.sort;
        this.sort(button.dataset.sort, this.sorted.key === button.dataset.sort ? !this.sorted.down : true);
      });
    reference.addEventListener("change", () => this.refer(reference.value === "" ? null : Number(reference.value)));
  }

  key(name, r) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "key", title: "show or hide this recording everywhere" });
    button.setAttribute("aria-pressed", "true");
    button.innerHTML = `<svg width="22" height="8" aria-hidden="true"><line x1="0" y1="4" x2="22" y2="4" stroke-width="3"/></svg><span></span>`;
    button.querySelector("span").textContent = name;
    button.addEventListener("click", () => {
      const { hiddenRuns } = this.page;
      hiddenRuns.has(r) ? hiddenRuns.delete(r) : hiddenRuns.add(r);
      button.setAttribute("aria-pressed", String(!hiddenRuns.has(r)));
      if (this.replay) this.replay.hidden = hiddenRuns;
      this.plots.forEach((plot) => plot.draw());
      this.redraw();
    });
    this.legend.append(button);
    return button;
  }

  // The colours of the recordings, in table and legend.
  paint() {
    const { palette } = this.page.theme;
    for (const one of this.rows) one.querySelector(".swatch").style.background = palette[one.dataset.run % palette.length];
    this.keys.forEach((key, r) => {
      const line = key.querySelector("line");
      line.style.stroke = palette[r % palette.length];
      line.setAttribute("stroke-dasharray", DASHES[r % 2].join(" "));
    });
  }

  value(row, key) {
    const text = row.querySelector(`[data-key="${key}"]`).dataset.value;
    return text === "" ? null : Number(text);
  }

  // Table, legend and robots in the order of a column, the greatest first; what is not known comes last.
  sort(key, down) {
    this.sorted = { key, down };
    const order = this.page.names.map((_, r) => r);
    if (key) {
      const values = this.rows.reduce((all, row) => ({ ...all, [row.dataset.run]: this.value(row, key) }), {});
      order.sort((a, b) => (values[a] === null) - (values[b] === null) || (down ? values[b] - values[a] : values[a] - values[b]));
    }
    const body = this.rows[0].parentNode;
    order.slice().reverse().forEach((r) => body.prepend(this.rows.find((row) => Number(row.dataset.run) === r)));
    order.forEach((r) => this.legend.append(this.keys[r]));
    for (const button of document.querySelectorAll("[data-sort]")) {
      const head = button.parentNode;
      button.dataset.sort === key ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort");
    }
    if (this.replay) this.replay.order = order;
    this.redraw();
  }

  // Values, and curves, as differences to those of one recording; of none with null.
  refer(run) {
    this.page.reference = run;
    const base = this.rows.find((row) => Number(row.dataset.run) === run);
    for (const row of this.rows) {
      row.classList.toggle("reference", row === base);
      for (const cell of row.querySelectorAll("[data-key]")) {
        const own = this.value(row, cell.dataset.key), other = base && this.value(base, cell.dataset.key);
        cell.querySelector(".delta").textContent = !base || row === base || own === null || other === null ? "" : difference(own, other, cell.dataset.unit);
      }
    }
    this.plots.forEach((plot) => plot.draw());
    this.redraw();
  }
}
