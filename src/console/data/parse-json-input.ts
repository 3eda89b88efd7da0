/** Parses JSON that a person entered: returns its value or an error; neither for an empty text. */
export function parseJsonInput(text: string): { readonly value?: unknown; readonly error?: string } {
  if (text.trim() === '') return {};
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
