/**
 * Nothing is delivered twice unless the outcome was in doubt: the final dot was sent, and the reply did not arrive, or the run ended or
 * could not store it. Nothing counts as delivered that no host has taken, and no host gets a message for somebody else.
 */
import type { MakeCheck } from './check.ts';

type Taking = { id: number; isConfirmed: boolean; run: number; at: number };

export const checkDeliveries: MakeCheck = ({ mail }, fail) => {
  const mailOf = new Map(
    mail.flatMap(({ name, recipients }) => recipients.map(({ address }) => [address, name])),
  );
  const takings = new Map<string, Taking>();
  const byId = new Map<number, Taking>();
  const senders = new Map<number, string>();
  const delivered = new Set<string>();
  let run = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    observe(observation, at) {
      switch (observation.kind) {
        case 'started':
          run = observation.run;
          break;
        case 'commit-failed':
          failedAt = at;
          break;
        case 'mail':
          senders.set(observation.connection.id, observation.mail);
          break;
        case 'confirmed': {
          const taking = byId.get(observation.id);
          if (taking) taking.isConfirmed = true;
          break;
        }
        case 'changed':
          if (observation.to !== 'delivered') break;
          delivered.add(observation.address);
          if (!takings.has(observation.address))
            fail(`${observation.address} counts as delivered, and no host took it`);
          break;
        case 'taken': {
          const taking = { id: observation.id, isConfirmed: false, run, at };
          byId.set(observation.id, taking);
          for (const address of observation.addresses) {
            const sender = senders.get(observation.connection.id);
            if (mailOf.get(address) !== sender) fail(`${address} got the message ${sender} of somebody else`);
            const before = takings.get(address);
            const wasInDoubt = before && (!before.isConfirmed || before.run !== run || failedAt >= before.at);
            if (delivered.has(address) || (before && !wasInDoubt)) fail(`${address} got the message twice`);
            takings.set(address, taking);
          }
        }
      }
    },
  };
};
