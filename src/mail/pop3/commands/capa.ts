/** CAPA (RFC 2449 section 5). */
import { capabilitiesOf } from '../capabilities.ts';
import { type Command, refuseArgument, sendLines } from './command.ts';

export const capa: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    return await sendLines(connection, '+OK Capabilities', capabilitiesOf(connection));
  },
};
