/** The open connections of a site. One ends after its message, or is cut off in the middle of it. */
import type { ShownSite } from '../../../queue/control/site-api.ts';
import { Foreign, Status, Time, type Tone } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { TenantLink } from '../tenant-link.tsx';
import type { OperatorContext } from './criteria.tsx';

type Connection = ShownSite['connections'][number];
type Props = { context: OperatorContext; shown: ShownSite };

/** Maximum number of connections on the page, which stays within 100 kB. All of them can be ended together. */
const MAX_SHOWN = 30;

const TONES: Record<Connection['state'], Tone> = {
  connecting: 'neutral',
  sending: 'good',
  idle: 'neutral',
  ending: 'warning',
};

export function Connections({ context, shown: { site, connections } }: Props) {
  const { site: texts, frame } = context.texts;
  return (
    <section>
      <h2>{texts.connections}</h2>
      <Table
        context={context}
        caption={texts.connections}
        rows={connections.slice(0, MAX_SHOWN)}
        keyOf={({ id }) => String(id)}
        empty={texts.noConnections}
        columns={[
          { label: texts.id, cell: ({ id }) => String(id) },
          { label: texts.host, cell: (one) => <Server one={one} /> },
          { label: texts.since, cell: ({ since }) => since && <Time context={context} at={since} /> },
          {
            label: texts.messages,
            isNumeric: true,
            cell: ({ messages }) => context.formats.number(messages),
          },
          {
            label: texts.state,
            cell: ({ state, tenantId }) => (
              <>
                <Status tone={TONES[state]}>{texts.states[state]}</Status>
                {tenantId && (
                  <div>
                    <TenantLink id={tenantId} />
                  </div>
                )}
              </>
            ),
          },
          { label: frame.actions, cell: (one) => <Ends context={context} site={site} connection={one} /> },
        ]}
      />
      {connections.length > 0 && (
        <>
          {connections.length > MAX_SHOWN && <p>{texts.more(context.formats.number(MAX_SHOWN))}</p>}
          <p>
            {texts.disconnectText} {texts.cutText}
          </p>
          <ActionButton
            context={context}
            action="disconnect"
            submit={texts.disconnectAll}
            about={{ name: site }}
          />
        </>
      )}
    </section>
  );
}

/** The server of a connection, and its TLS. Nothing is known of one before it is dialled. */
function Server({ one: { host, address, tls } }: { one: Connection }) {
  if (host === null) return null;
  return (
    <>
      <Foreign text={`${host} [${address}]`} /> {tls}
    </>
  );
}

type EndsProps = { context: OperatorContext; site: string; connection: Connection };

function Ends({ context, site, connection: { id, state } }: EndsProps) {
  const { site: texts } = context.texts;
  const about = { name: site, connection: String(id) };
  const button = { context, action: 'disconnect', about };
  return (
    <>
      {state !== 'ending' && (
        <ActionButton {...button} submit={texts.disconnect} label={`${texts.disconnect}: ${id}`} />
      )}
      {state !== 'idle' && (
        <ActionButton
          {...button}
          fields={{ force: 'on' }}
          submit={texts.cut}
          label={`${texts.cut}: ${id}`}
          isDangerous
        />
      )}
    </>
  );
}
