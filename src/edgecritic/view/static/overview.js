// Where in a raster the window lies: a small picture of the whole, in which another place can be chosen.

const FRAME = "#d81b60";
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Overview {
  /** `choose([row, column])` takes the middle of another window. */
  constructor(figure, choose) {
    Object.assign(this, { figure, choose, canvas: figure.querySelector("canvas") });
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect(), [rows, columns] = this.extent;
      this.move([((event.clientY - box.top) / box.height) * rows, ((event.clientX - box.left) / box.width) * columns]);
    });
    this.canvas.addEventListener("keydown", (event) => {
      if (!STEPS[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(this.middle.map((at, axis) => at + STEPS[event.key][axis] * (this.shape[axis] / 2)));
    });
  }

  get middle() { return this.from.map((first, axis) => first + this.shape[axis] / 2); }

  /** Choose a window that lies within the raster. */
  move(middle) {
    this.choose(middle.map((at, axis) => Math.round(Math.min(this.extent[axis] - this.shape[axis] / 2, Math.max(this.shape[axis] / 2, at)))));
  }

  /** Show the picture of a raster of `extent` rows and columns, and the window of `shape` that begins at `from`. */
  show(picture, { extent, shape, window: from }) {
    Object.assign(this, { extent, shape, from });
    const { canvas } = this, context = canvas.getContext("2d");
    Object.assign(canvas, { width: 2 * picture.width, height: 2 * picture.height });
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const [top, left, high, wide] = [from[0] / extent[0], from[1] / extent[1], shape[0] / extent[0], shape[1] / extent[1]];
    context.strokeStyle = FRAME;
    context.lineWidth = 4;
    context.strokeRect(left * canvas.width, top * canvas.height, wide * canvas.width, high * canvas.height);
    canvas.setAttribute("aria-label", `The whole raster of ${extent.join(" × ")} pixels; ${words({ shape, window: from })} are shown`);
  }
}

/** Say which part of a raster a window is. */
export const words = ({ shape, window: [row, column] }) => `rows ${row} to ${row + shape[0] - 1}, columns ${column} to ${column + shape[1] - 1}`;
