/** The width of a label's text, as the browser draws it (.port in style/graph.css). */
const FONT = '600 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

let context: CanvasRenderingContext2D | null | undefined;
const known = new Map<string, number>();

export function measureLabel(text: string): number {
  const width = known.get(text);
  if (width !== undefined) return width;
  context ??= document.createElement('canvas').getContext('2d');
  if (context !== null) context.font = FONT;
  const measured = context?.measureText(text).width ?? text.length * 7;
  known.set(text, measured);
  return measured;
}
