import type { TextMedia } from '../../definition/document/source-text.ts';

/** A text as its author wrote it. Its actor holds it (TextStart). */
export interface TextReference {
  /** `sha256:…` of the text. */
  readonly hash: string;
  readonly media: TextMedia;
}
