/** Tools for addresses that receive no mail. */
import { type Static, Type } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { suppressionSchema } from '../../suppressions/schemas.ts';
import { addressArgument, idArgument, oneOf, optional, pageArguments } from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { defineTool, input } from '../tool.ts';

type Page = { data: Static<typeof suppressionSchema>[]; nextCursor: string | null };

export const findSuppressions = defineTool({
  name: 'find_suppressions',
  title: 'Why does an address receive no mail?',
  description:
    'Lists addresses that receive no mail, the newest first, with the reason and the reply that caused it; or says whether one address is among them and why.',
  effect: 'reads',
  input: input({
    email: optional(addressArgument('Address, without a name.')),
    reason: optional(oneOf(['manual', 'bounce', 'complaint', 'unsubscribe'], 'Only those with this reason.')),
    ...pageArguments,
  }),
  async run({ api }, { limit = 10, ...query }) {
    const page = await api.get<Page>('/suppressions', { limit, ...query });
    const [first] = page.data;
    if (query.email === undefined)
      return { says: saysPage('suppressed addresses', page), foreign: page.data };
    const says = first
      ? `The address is suppressed since ${first.createdAt}, with the reason ${first.reason}.`
      : 'The address is not suppressed.';
    return { says, foreign: page.data };
  },
});

export const removeSuppression = defineTool({
  name: 'remove_suppression',
  title: 'Allow mail to an address again',
  description:
    'Removes an address from the suppressions, so that mail is sent to it again. Use it only when the cause is gone: mail to an address that does ' +
    'not exist, or whose reader complained, harms the delivery of all other mail. `find_suppressions` has the id.',
  effect: 'changes',
  input: input({ suppressionId: idArgument('sup', 'Suppression.') }),
  output: Type.Object({ id: Type.String(), removed: Type.Boolean() }),
  async run({ api }, { suppressionId }) {
    await api.delete(path`/suppressions/${suppressionId}`);
    return { says: 'The address receives mail again.', facts: { id: suppressionId, removed: true } };
  },
});
