// Where the 3D view is seen from: one camera for all cells, what fits into a cell, and which body is under the pointer.

class Camera extends Stage {
  camera = { yaw: 0, pitch: 0.2, zoom: 1, pan: [0, 0, 0], fov: 0.55 };

  face(view) {
    const views = { quarter: [-0.75, 0.22], front: [0, 0.06], side: [-Math.PI / 2, 0.06], top: [-Math.PI / 2, 1.5] };
    const [yaw, pitch] = views[view];
    Object.assign(this.camera, { yaw, pitch, zoom: 1, pan: [0, 0, 0] });
  }

  // Where each run is drawn, in pixels of the page: a grid in which the robots are largest, or one cell for all.
  cells(width, height) {
    const shown = this.order.filter((r) => !this.hidden.has(r)), n = Math.max(1, shown.length);
    if (this.layers.overlay || n === 1) return [{ x: 0, y: 0, width, height, runs: shown }];
    const tall = this.data.size, wide = Math.max(0.62 * tall, this.data.girth);
    let best = { scale: 0 };
    for (let columns = 1; columns <= n; columns++) {
      if (columns > 1 && width / columns < 150) break; // names need some room
      const rows = Math.ceil(n / columns), scale = Math.min(width / columns / wide, (height / rows - 26) / tall);
      if (scale > best.scale * 1.001) best = { scale, columns, rows };
    }
    const w = width / best.columns, h = height / best.rows;
    return shown.map((r, i) => ({ x: w * (i % best.columns), y: h * Math.floor(i / best.columns), width: w, height: h, runs: [r] }));
  }

  // How far the camera stands, m, so that a robot fills a cell of that shape, its nearest foot included.
  distance(aspect) {
    const half = Math.tan(this.camera.fov / 2), wide = Math.max(0.9 * this.data.size, 1.05 * this.data.girth);
    const far = Math.max((0.6 * this.data.size) / half, (0.5 * wide) / (half * aspect)) + 0.25 * this.data.size;
    const { reach } = this.data, low = 0.58 * this.data.height + 0.22 * reach; // seen from 0.22 rad above
    return this.camera.zoom * Math.max(far, reach + low / half, reach + reach / (half * aspect));
  }

  centre(runs) {
    const sum = [0, 0, 0], time = this.layers.follow ? this.time : this.runs[0].time[0];
    for (const r of runs) {
      const run = this.runs[r], p = this.blend(run.com, this.at(run, time), 0);
      for (let i = 0; i < 3; i++) sum[i] += p[i] / runs.length;
    }
    const ground = this.runs[runs[0] ?? 0].com_ground[2];
    sum[2] = mix(sum[2], Number.isNaN(ground) ? 0 : ground + 0.45 * this.data.height, 0.8);
    return sum;
  }

  orbit(dx, dy) {
    this.camera.yaw -= 0.008 * dx;
    this.camera.pitch = clamp(this.camera.pitch + 0.008 * dy, -0.2, 1.55);
  }

  zoom(factor) {
    this.camera.zoom = clamp(this.camera.zoom * factor, 0.05, 15);
  }

  // What one pixel to the right and one down are at the target, m.
  axes() {
    const { yaw, pitch, fov } = this.camera, cell = this.views[0];
    const step = (2 * this.distance(cell.width / cell.height) * Math.tan(fov / 2)) / cell.height;
    const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = [-Math.cos(yaw) * Math.sin(pitch), -Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch)];
    return [vec.scale(right, step), vec.scale(up, -step)];
  }

  // The body under a point of the canvas, by a ray against its triangles (Moeller and Trumbore 1997); null if none is.
  pick(x, y) {
    const cell = this.views.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    if (!cell) return null;
    const { yaw, pitch, fov } = this.camera, half = Math.tan(fov / 2), { eye } = cell;
    const out = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
    const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = vec.cross(out, right);
    const across = ((2 * (x - cell.x)) / cell.width - 1) * half * (cell.width / cell.height), high = (1 - (2 * (y - cell.y)) / cell.height) * half;
    const ray = vec.add(vec.scale(out, -1), vec.add(vec.scale(right, across), vec.scale(up, high)));
    let found = null;
    for (const r of cell.runs) {
      const robot = this.data.robots[this.runs[r].robot];
      this.drawn[r].bodies.forEach(({ move, turn }, b) => {
        const back = [turn[0], -turn[1], -turn[2], -turn[3]], { vertices, faces } = robot.bodies[b];
        const from = rotate(back, vec.sub(eye, move)), way = rotate(back, ray), corner = (i) => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
        for (let f = 0; f < faces.length; f += 3) {
          const a = corner(faces[f]), e1 = vec.sub(corner(faces[f + 1]), a), e2 = vec.sub(corner(faces[f + 2]), a);
          const p = vec.cross(way, e2), det = vec.dot(e1, p);
          if (Math.abs(det) < 1e-12) continue;
          const s = vec.sub(from, a), u = vec.dot(s, p) / det, q = vec.cross(s, e1), v = vec.dot(way, q) / det, t = vec.dot(e2, q) / det;
          if (u >= 0 && v >= 0 && u + v <= 1 && t > 0 && (!found || t < found.far)) found = { name: robot.names[b], far: t };
        }
      });
    }
    return found;
  }

  slide(dx, dy) {
    const [right, down] = this.axes();
    this.camera.pan = vec.sub(this.camera.pan, vec.add(vec.scale(right, dx), vec.scale(down, dy)));
  }
}
