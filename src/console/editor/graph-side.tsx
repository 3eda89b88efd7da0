/** The graph beside the text, with the problems of its steps marked. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { clampZoom, fittingZoom, GraphView, useDrawing } from '../graph/graph.tsx';
import type { StepSum } from '../graph/scope.ts';
import type { GraphInput } from '../graph/ways.ts';
import { Button } from '../parts/button.tsx';
import '../style/graph.css';

interface GraphSideProps {
  readonly graph: GraphInput;
  readonly label: string;
  readonly marks: ReadonlyMap<string, string>;
  /** What a dry run did. */
  readonly sums: ReadonlyMap<string, StepSum> | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (slug: string) => void;
}

const STEP = 1.2;

export function GraphSide({ graph, label, marks, sums, selected, onSelect }: GraphSideProps) {
  const drawing = useDrawing(graph);
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  // Fitted once: afterwards the zoom is the user's, also while the graph grows.
  useEffect(() => {
    if (box.current !== null) setZoom(fittingZoom(drawing.layout.width, box.current.clientWidth));
  }, []);
  return (
    <div class="editor-graph" ref={box}>
      <GraphView
        graph={graph}
        drawing={drawing}
        label={label}
        marks={marks}
        selected={selected}
        onSelect={onSelect}
        zoom={zoom}
        onZoom={setZoom}
        {...(sums === undefined ? {} : { sums })}
      />
      <div class="editor-zoom">
        <Button label="Smaller" onClick={() => setZoom(clampZoom(zoom / STEP))}>
          −
        </Button>
        <Button label="Larger" onClick={() => setZoom(clampZoom(zoom * STEP))}>
          +
        </Button>
      </div>
    </div>
  );
}
