/** Shows the results of actions that connect to other machines: the check of a relay, and the probe of port 25. */
import type { RelayCheck } from '../../../outbound-routes/check-relay.ts';
import type { PortProbe } from '../../../outbound-routes/port-probe.ts';
import { Facts, Foreign, Heading, Status } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import type { Contexts } from '../../page.ts';

type Context = Contexts['operator'];

/** Returns the page with what the check of a relay has found. */
export function relayView(context: Context, { name, hosts }: { name: string; hosts: RelayCheck[] }) {
  const { outboundRoutes: texts } = context.texts;
  const title = texts.checked(name);
  const body = (
    <>
      <Back context={context} title={title} />
      <Table
        context={context}
        caption={title}
        rows={hosts}
        keyOf={({ host, address }) => `${host} ${address}`}
        columns={[
          { label: texts.host, cell: ({ host }) => <Foreign text={host} /> },
          { label: texts.address, cell: ({ address }) => address },
          {
            label: texts.result,
            cell: ({ problem }) => <Outcome context={context} isGood={problem === null} />,
          },
          { label: texts.tls, cell: ({ tls }) => tls },
          { label: texts.problem, cell: ({ problem }) => <Foreign text={problem} /> },
        ]}
      />
    </>
  );
  return { title, body };
}

/** Returns the page with what the probe of port 25 has found. */
export function probeView(context: Context, { ipv4, ipv6, dialled }: PortProbe) {
  const { outboundRoutes: texts } = context.texts;
  const title = texts.probed;
  const body = (
    <>
      <Back context={context} title={title} />
      <Facts
        facts={[
          ['IPv4', texts.portStates[ipv4]],
          ['IPv6', texts.portStates[ipv6]],
        ]}
      />
      <Table
        context={context}
        caption={title}
        rows={dialled}
        keyOf={({ host, address }) => `${host} ${address}`}
        columns={[
          { label: texts.host, cell: ({ host }) => <Foreign text={host} /> },
          { label: texts.address, cell: ({ address }) => address },
          {
            label: texts.result,
            cell: ({ answered }) => <Outcome context={context} isGood={answered} />,
          },
          { label: texts.answer, cell: ({ detail }) => <Foreign text={detail} /> },
        ]}
      />
    </>
  );
  return { title, body };
}

function Back({ context, title }: { context: Context; title: string }) {
  return (
    <Heading title={title}>
      <a href={context.path}>{context.texts.outboundRoutes.back}</a>
    </Heading>
  );
}

function Outcome({ context, isGood }: { context: Context; isGood: boolean }) {
  const { works, fails } = context.texts.outboundRoutes;
  return <Status tone={isGood ? 'good' : 'bad'}>{isGood ? works : fails}</Status>;
}
