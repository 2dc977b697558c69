/** Shapes and types of operator inputs, as the column store writes them: `4,16;16,16`, tensors of one list by `|`. */
import { StringTable } from '../profile/strings';
import { parseLenient, type JsonValue } from './traceText';

/** Interns the text made of a JSON array; each distinct array is looked at once. */
export class InputTexts {
  private readonly raw = new StringTable();
  private readonly ids: number[] = [0];

  constructor(private readonly strings: StringTable, private readonly textOf: (value: JsonValue | undefined) => string) {}

  /** Id of the text in the rank's strings, 0 when it says nothing. */
  idOf(bytes: Uint8Array, start: number, end: number): number {
    const raw = this.raw.internBytes(bytes, start, end);
    return (this.ids[raw] ??= this.strings.intern(this.textOf(parseLenient(bytes, start, end))));
  }
}

/** `[[4, 16], [], [[2], [3]]]` → `4,16;;2|3`; empty when no input has a shape. */
export function shapesText(value: JsonValue | undefined): string {
  return inputsText(value, input => {
    if (!Array.isArray(input)) {
      return '';
    }
    return input.some(Array.isArray) ? input.map(dims => plain(dims, ',')).join('|') : plain(input, ',');
  });
}

/** `["float", "", "Scalar"]` → `float;;Scalar`; empty when no input has a type. */
export function typesText(value: JsonValue | undefined): string {
  return inputsText(value, input => plain(input, '|'));
}

function inputsText(value: JsonValue | undefined, textOf: (input: JsonValue) => string): string {
  if (!Array.isArray(value)) {
    return '';
  }
  const inputs = value.map(textOf);
  return inputs.some(input => input !== '') ? inputs.join(';') : '';
}

/** A text, a number, or a list of those; nothing else is expected here. */
function plain(value: JsonValue, separator: string): string {
  if (Array.isArray(value)) {
    return value.map(item => (typeof item === 'number' || typeof item === 'string' ? String(item) : '')).join(separator);
  }
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}
