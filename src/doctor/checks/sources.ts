/**
 * Checks the sources of outgoing mail: whether each address is in use, and whether receivers find its name by reverse DNS and
 * allow it by SPF.
 */
import ipaddr from 'ipaddr.js';
import { bounceDomain } from '../../domains/records.ts';
import { listSources, type ShownSource } from '../../queue/sources/list.ts';
import { proveAddress } from '../../queue/sources/proof.ts';
import { isoTime } from '../../system/clock.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('sources');

type SourcesContext = Pick<CheckContext, 'clock' | 'config' | 'db' | 'dns'>;

export const sources = {
  name: 'sources',
  isForProduction: true,
  async run(context: SourcesContext) {
    const found = (await listSources(context)).flatMap((source) => {
      const { name, suspendedByHand } = source;
      if (suspendedByHand) return [describeByHand(name, suspendedByHand)];
      return source.addresses.map((address) => {
        const suspended = source.suspended.find((one) => one.address === address);
        return suspended ? describeSuspended(source, suspended) : checkAddress(context, source, address);
      });
    });
    return Promise.all(found);
  },
} satisfies Check;

function describeByHand(
  name: string,
  { reason, since }: NonNullable<ShownSource['suspendedByHand']>,
): Finding {
  const begun = `no mail leaves from it since ${isoTime(since)}, because an operator has suspended it`;
  const says = reason === null ? begun : `${begun}: ${reason}`;
  return warn(name, says, `resume it by "postrider source resume ${name}" once its mail may leave again`);
}

function describeSuspended(
  { name, proxy }: ShownSource,
  { address, reason }: ShownSource['suspended'][number],
): Finding {
  const advice = proxy
    ? `see to the proxy at ${proxy.address} port ${proxy.port}`
    : `give ${address} to this machine, or remove it from the source "${name}"`;
  return fail(subjectOf(name, address), `no mail leaves from it: ${reason}`, advice);
}

async function checkAddress(
  { config, dns }: SourcesContext,
  { name, ehlo, ipv6 }: ShownSource,
  address: string,
): Promise<Finding> {
  const subject = subjectOf(name, address);
  // Receivers see another address, which is not known here.
  if (ipaddr.parse(address).range() !== 'unicast')
    return warn(
      subject,
      'the address is not public, so its reverse DNS and SPF are not checked',
      'check those of the public address',
    );
  const proof = await proveAddress(dns.fresh, { address, ehlo, returnPath: bounceDomain(config) });
  switch (proof.kind) {
    case 'proven':
      return ok(subject, `its reverse DNS leads to ${ehlo} and back, and SPF allows it`);
    case 'unknown':
      return warn(subject, `DNS does not answer (${proof.reason})`, 'try again later');
    case 'faulty': {
      const unused = ipv6 === 'proven' && address.includes(':') ? '; no mail leaves from it' : '';
      const advice = `set the reverse DNS of ${address} to ${ehlo}, give ${ehlo} the address, and publish the SPF record that "postrider domain records" shows`;
      return fail(subject, `${proof.says}${unused}`, advice);
    }
  }
}

function subjectOf(source: string, address: string): string {
  return `${source} ${address}`;
}
