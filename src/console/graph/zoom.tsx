/** The zoom of a graph: initially fits the width of its box, then changed by the user. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { pixels } from '../parts/pixels.ts';
import { clampZoom, fittingZoom, type GraphProps, GraphView, useDrawing } from './graph.tsx';
import { MARGIN } from './layout.ts';
import '../style/graph.css';

export interface Zoom {
  readonly zoom: number;
  readonly setZoom: (zoom: number) => void;
  readonly zoomIn: () => void;
  readonly zoomOut: () => void;
  /** The scroll container of the graph. */
  readonly box: RefObject<HTMLDivElement | null>;
}

const ZOOM_STEP = 1.15;

/** `width`: of the graph, in its own pixels, once it `isDrawn`. */
export function useZoom(width: number, isDrawn = true): Zoom {
  const [zoom, setZoom] = useState(1);
  const box = useRef<HTMLDivElement>(null);
  const isFitted = useRef(false);
  useEffect(() => {
    if (!isDrawn || isFitted.current || box.current === null) return;
    isFitted.current = true;
    setZoom(fittingZoom(width, box.current.clientWidth));
  });
  return {
    zoom,
    setZoom,
    zoomIn: () => setZoom(clampZoom(zoom * ZOOM_STEP)),
    zoomOut: () => setZoom(clampZoom(zoom / ZOOM_STEP)),
    box,
  };
}

export const ZoomButtons = ({ zoom, zoomIn, zoomOut }: Zoom) => (
  <>
    <Button label="Smaller" keys="-" onClick={zoomOut}>
      −
    </Button>
    <span class="number">{Math.round(zoom * 100)} %</span>
    <Button label="Larger" keys="+" onClick={zoomIn}>
      +
    </Button>
  </>
);

const SCROLLBAR = 20;

interface BoxProps extends Omit<GraphProps, 'zoom' | 'onZoom'> {
  readonly class: string;
  /** In pixels: the box is as high as the graph, at most this. Default: the style sheet sets the height. */
  readonly maxHeight?: number;
}

/** A graph in a box, with the buttons of its zoom. */
export function GraphBox({ class: name, maxHeight, ...rest }: BoxProps) {
  const drawing = useDrawing(rest.graph);
  const { width, height } = drawing.layout;
  const zoom = useZoom(width);
  const wanted = (height + 2 * MARGIN) * zoom.zoom + SCROLLBAR;
  return (
    <div
      class={`graph-box ${name}`}
      ref={zoom.box}
      {...(maxHeight === undefined ? {} : { style: pixels({ height: Math.min(maxHeight, wanted) }) })}
    >
      <GraphView {...rest} drawing={drawing} zoom={zoom.zoom} onZoom={zoom.setZoom} />
      <div class="graph-tools">
        <ZoomButtons {...zoom} />
      </div>
    </div>
  );
}
