/** Tools about the account as a whole, and about what waits for a person. */
import { type Static, Type } from 'typebox';
import type { approvalSchema } from '../../approvals/schemas.ts';
import { path } from '../../http/json/calls.ts';
import type { metricsSchema } from '../../statistics/schemas.ts';
import type { planUsageSchema } from '../../tenants/schemas.ts';
import { idArgument, timeArgument } from '../arguments.ts';
import { defineTool, input } from '../tool.ts';

export const showAccount = defineTool({
  name: 'show_account',
  title: 'Show usage, limits and numbers',
  description:
    'Shows the limits of the plan and how much of them is used, and what became of the mail: accepted, delivered, bounced, complained, opened and ' +
    'clicked, with rates. Of the last 24 hours, or from a given time.',
  effect: 'reads',
  input: input({ from: Type.Optional(timeArgument('Beginning of the numbers.')) }),
  async run({ api }, { from }) {
    const [plan, { from: since, to, totals }] = await Promise.all([
      api.get<Static<typeof planUsageSchema>>('/plan'),
      api.get<Static<typeof metricsSchema>>('/metrics', { from }),
    ]);
    return { says: `The numbers are those from ${since} to ${to}.`, foreign: { plan, totals } };
  },
});

export const checkApproval = defineTool({
  name: 'check_approval',
  title: 'Check an approval',
  description:
    'Shows whether a person has approved or declined mail that waits, with the words of the one who declined. Only a person can decide; no tool does.',
  effect: 'reads',
  input: input({ approvalId: idArgument('apr', 'Approval, from the answer of the tool that sent.') }),
  async run({ api }, { approvalId }) {
    const { hash, ...approval } = await api.get<Static<typeof approvalSchema>>(
      path`/approvals/${approvalId}`,
    );
    return { says: `The approval is ${approval.state}.`, foreign: approval };
  },
});
