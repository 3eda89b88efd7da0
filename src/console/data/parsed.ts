/** JSON that a person has written: its value, or what is wrong with it. Neither where nothing is written. */
export function parsed(text: string): { readonly value?: unknown; readonly error?: string } {
  if (text.trim() === '') return {};
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
