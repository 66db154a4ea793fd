/**
 * Reports that the stored bytes of a message are missing, too short, or not those that were stored. A retry does not
 * help.
 */
export class DamagedBlobError extends Error {
  override readonly name = 'DamagedBlobError';
  /** Tells the operator where the bytes are stored: a file of the data directory, or the database. */
  readonly location: string;

  constructor(location: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.location = location;
  }
}
