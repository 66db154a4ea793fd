/**
 * The events of each recipient stand in the order in which things happen: sent once, then delays, then one end, and nothing after it.
 * Delays come first when the mail is not tried for a while, because its site rests or is at a limit.
 */
import type { MakeCheck } from './check.ts';

const ORDER =
  /^(?:(?:delivery_delayed )*(?:sent )?(?:delivery_delayed )*(?:held )?(?:(?:delivered|bounced|canceled|suppressed) )?)$/;

export const checkEvents: MakeCheck = (_plan, fail) => ({
  atEnd({ recipients, events }) {
    const byAddress = new Map<string, string>();
    for (const { type, data } of events) {
      const { to } = JSON.parse(data) as { to?: string };
      if (to !== undefined) byAddress.set(to, `${byAddress.get(to) ?? ''}${type.replace(/^email\./, '')} `);
    }
    for (const { address, state, attempts } of recipients) {
      const seen = byAddress.get(address) ?? '';
      if (!ORDER.test(seen)) fail(`the events of ${address} are: ${seen}`);
      if (attempts > 0 !== seen.includes('sent '))
        fail(`${address} has ${attempts} attempts and the events: ${seen}`);
      if ((state === 'delivered' || state === 'bounced') && !seen.endsWith(`${state} `))
        fail(`${address} is ${state} and has the events: ${seen}`);
    }
  },
});
