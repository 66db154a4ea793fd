/**
 * Reports that the files of the data directory do not belong together. The message names them and says what the
 * operator can do.
 */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}
