/** How large a graph is drawn: at first so that it fits into the width of its box, then as the user wants. */
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
  readonly larger: () => void;
  readonly smaller: () => void;
  /** Of what holds the graph. */
  readonly box: RefObject<HTMLDivElement | null>;
}

const STEP = 1.15;

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
    larger: () => setZoom(clampZoom(zoom * STEP)),
    smaller: () => setZoom(clampZoom(zoom / STEP)),
    box,
  };
}

export const ZoomButtons = ({ zoom, larger, smaller }: Zoom) => (
  <>
    <Button label="Smaller" keys="-" onClick={smaller}>
      −
    </Button>
    <span class="number">{Math.round(zoom * 100)} %</span>
    <Button label="Larger" keys="+" onClick={larger}>
      +
    </Button>
  </>
);

const SCROLLBAR = 20;

interface BoxProps extends Omit<GraphProps, 'zoom' | 'onZoom'> {
  readonly class: string;
  /** In pixels. The box is as high as the graph, and no higher than this. Without it the style sheet says how high. */
  readonly mostHeight?: number;
}

/** A graph in a box, with the buttons of its zoom. */
export function GraphBox({ class: name, mostHeight, ...rest }: BoxProps) {
  const drawing = useDrawing(rest.graph);
  const { width, height } = drawing.layout;
  const zoom = useZoom(width);
  const wanted = (height + 2 * MARGIN) * zoom.zoom + SCROLLBAR;
  return (
    <div
      class={`graph-box ${name}`}
      ref={zoom.box}
      {...(mostHeight === undefined ? {} : { style: pixels({ height: Math.min(mostHeight, wanted) }) })}
    >
      <GraphView {...rest} drawing={drawing} zoom={zoom.zoom} onZoom={zoom.setZoom} />
      <div class="graph-tools">
        <ZoomButtons {...zoom} />
      </div>
    </div>
  );
}
