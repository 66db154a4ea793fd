/** The failure of a source. It loads nothing, so that whoever knows failures by their class can load it. */

/**
 * Reports that a connection failed because of its source, which says nothing about the host. `unusable`: no connection can
 * leave through the source at present. `refused`: it did not make this connection, and may make others.
 */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly fault: 'unusable' | 'refused';

  constructor(fault: 'unusable' | 'refused', message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}
