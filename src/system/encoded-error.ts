/** Errors as plain data that crosses between threads. Structured clone would drop the class and the code of an `AppError`. */
import { AppError, type AppErrorOptions, type ErrorCode, errorMessage } from './errors.ts';

export type EncodedError =
  | { kind: 'refusal'; code: ErrorCode; message: string; options: AppErrorOptions }
  | { kind: 'bug'; message: string; stack: string | undefined; fields: Record<string, string | number> };

/** Returns an error as plain data. */
export function encodeError(error: unknown): EncodedError {
  if (error instanceof AppError) {
    const { cause: _, ...options } = error.options;
    return { kind: 'refusal', code: error.code, message: error.message, options };
  }
  return {
    kind: 'bug',
    message: errorMessage(error),
    stack: error instanceof Error ? error.stack : undefined,
    fields: error instanceof Error ? plainFields(error) : {},
  };
}

/** Returns the fields by which errors are told apart, such as `name`, `code` and `path`. */
function plainFields(error: Error): Record<string, string | number> {
  const fields = Object.entries(error).filter(([, value]) => ['string', 'number'].includes(typeof value));
  return Object.fromEntries(fields);
}

/** Returns the error that `encodeError` encoded. */
export function decodeError(encoded: EncodedError): Error {
  if (encoded.kind === 'refusal') return new AppError(encoded.code, encoded.message, encoded.options);
  const error = Object.assign(new Error(encoded.message), encoded.fields);
  if (encoded.stack !== undefined) error.stack = encoded.stack;
  return error;
}
