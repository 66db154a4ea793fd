/** The first page of a tenant that has not sent anything: what to do until it has, with what is done already. */
import type { ComponentChildren } from 'preact';
import { Status } from '../../frame/elements.tsx';
import { tenantPath } from '../../frame/layout.tsx';
import type { TenantContext } from '../../page.ts';

type Some = { data: readonly unknown[] };
type Step = { href: string; label: string; text: string; isDone: boolean };

/** Returns the steps of the mode. A viewer takes none of them. */
export async function firstSteps(context: TenantContext): Promise<ComponentChildren> {
  const { at, can, mode, tenant, texts } = context;
  const { overview, emails } = texts;
  const steps = can('write') ? await stepsOf(context) : [];
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps">{overview.firstSteps}</h2>
      <p>{overview.firstText[mode]}</p>
      {steps.length > 0 && (
        <ol>
          {steps.map(({ href, label, text, isDone }) => (
            <li key={href}>
              <a href={at(href)}>{label}</a> {isDone && <Status tone="good">{overview.done}</Status>}
              <br />
              {text}
            </li>
          ))}
        </ol>
      )}
      {mode === 'live' && (
        <p>
          <a href={tenantPath(tenant.tenantName, 'test')}>{emails.ofTestKeys}</a>
        </p>
      )}
    </section>
  );
}

async function stepsOf({ api, mode, texts: { overview } }: TenantContext): Promise<Step[]> {
  const has = async (path: string, query = {}) =>
    (await api.get<Some>(path, { ...query, limit: 1 })).data.length > 0;
  const step = (name: keyof typeof overview.steps, href: string, isDone: boolean): Step => {
    const [label, text] = overview.steps[name];
    return { href, label, text, isDone };
  };
  return [
    // Test mail may come from the sandbox, which needs no records.
    ...(mode === 'live'
      ? [step('domain', '/domains/new', await has('/domains', { status: 'verified' }))]
      : []),
    step('key', '/keys/new', await has('/api-keys')),
    step('send', '/send-test', false),
    step('webhook', '/webhooks/new', await has('/webhooks')),
  ];
}
