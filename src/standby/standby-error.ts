/** Says why a standby cannot go on, in a sentence for the operator. */
export class StandbyError extends Error {
  override readonly name = 'StandbyError';
}
