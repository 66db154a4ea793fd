/** Cuts texts so that their JSON has a limited size. */

/** Maximum number of bytes of one UTF-16 code unit in JSON, that of a control character. */
const MAX_BYTES_PER_UNIT = 6;
/** Part of the expected length that is kept, so that the cut seldom has to be repeated. */
const KEPT = 0.95;

/** Returns the beginning of a text whose JSON has at most about this many bytes. */
export function shortenToJson(text: string, maxBytes: number): string {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return text;
  let shortened = text;
  for (let bytes = jsonBytes(shortened); bytes > maxBytes; bytes = jsonBytes(shortened))
    shortened = shortened.slice(0, Math.floor((shortened.length * maxBytes * KEPT) / bytes)).toWellFormed();
  return shortened;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
