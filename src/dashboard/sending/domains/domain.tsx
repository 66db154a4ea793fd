/** The page of a domain: its status and its records, its settings, its DKIM keys, and its end. */
import { path } from '../../../http/json/calls.ts';
import { Facts, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton, Checkbox, Disclosure, Field, Form } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import type { Domain } from './choice.tsx';
import { DOMAIN_TONES } from './list.tsx';
import { PurposeFields } from './new.tsx';
import { Records } from './records.tsx';

export const domainPage = definePage({
  area: 'tenant',
  path: '/domains/:id',
  async show(context) {
    const domain = await context.api.get<Domain>(pathOf(context));
    return {
      title: domain.name,
      body: (
        <>
          <Summary context={context} domain={domain} />
          <Records context={context} domain={domain} />
          <Keys context={context} domain={domain} />
          {context.can('write') && <Settings context={context} domain={domain} />}
          {context.can('write') && <Deletion context={context} />}
        </>
      ),
    };
  },
  actions: {
    verify: {
      async run(context) {
        await context.api.post(`${pathOf(context)}/verify`);
        return { to: context.path, said: 'domainChecked' };
      },
    },
    change: {
      logs: ['productType', 'region', 'trackingSubdomain', 'openTracking', 'clickTracking', 'ed25519'],
      async run(context, form) {
        const trackingSubdomain = fieldOf(form, 'trackingSubdomain').trim();
        await context.api.patch(pathOf(context), {
          productType: fieldOf(form, 'productType'),
          region: fieldOf(form, 'region'),
          trackingSubdomain: trackingSubdomain === '' ? null : trackingSubdomain,
          openTracking: fieldOf(form, 'openTracking') !== '',
          clickTracking: fieldOf(form, 'clickTracking') !== '',
          ed25519: fieldOf(form, 'ed25519') !== '',
        });
        return { to: context.path, said: 'saved' };
      },
    },
    rotate: {
      async run(context) {
        await context.api.post(`${pathOf(context)}/rotate-dkim`);
        return { to: context.path, said: 'keysRotate' };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/domains'), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/domains/${params['id'] ?? ''}`;
}

type Props = { context: TenantContext; domain: Domain };

function Summary({ context, domain }: Props) {
  const { domains } = context.texts;
  const { name, status, productType, region } = domain;
  const checks = domain.records.map(({ lastCheckedAt }) => lastCheckedAt).filter((at) => at !== null);
  return (
    <>
      <Heading title={name}>
        {context.can('write') && <ActionButton context={context} action="verify" submit={domains.verify} />}
      </Heading>
      <Facts
        facts={[
          [
            domains.status,
            <Status key="status" tone={DOMAIN_TONES[status]}>
              {domains.statuses[status]}
            </Status>,
          ],
          [domains.productType, domains.productTypes[productType]],
          [domains.region, region],
          [domains.lastCheckedAt, <Time key="checked" context={context} at={checks.sort().at(-1)} />],
          [domains.verifiedAt, <Time key="verified" context={context} at={domain.verifiedAt} />],
          [domains.createdAt, <Time key="created" context={context} at={domain.createdAt} />],
        ]}
      />
      {status !== 'verified' && <p class="notice">{domains.explained[status]}</p>}
    </>
  );
}

function Keys({ context, domain }: Props) {
  const { domains } = context.texts;
  return (
    <>
      <h2>{domains.dkimKeys}</h2>
      <Table
        context={context}
        caption={domains.dkimKeys}
        rows={domain.dkimKeys}
        keyOf={({ selector }) => selector}
        columns={[
          { label: domains.selector, cell: ({ selector }) => <code>{selector}</code> },
          { label: domains.algorithm, cell: ({ algorithm }) => (algorithm === 'rsa' ? 'RSA' : 'Ed25519') },
          { label: domains.state, cell: ({ state }) => domains.keyStates[state] },
          {
            label: domains.since,
            cell: ({ since }) => (since === null ? '' : <Time context={context} at={since} />),
          },
        ]}
      />
      {context.can('write') && (
        <Disclosure label={domains.rotate} isOpen={context.failed?.action === 'rotate'}>
          <p>{domains.rotateText}</p>
          <Form context={context} action="rotate" submit={domains.rotateNow}>
            {null}
          </Form>
        </Disclosure>
      )}
    </>
  );
}

function Settings({ context, domain }: Props) {
  const { domains } = context.texts;
  const field = { context, action: 'change' };
  return (
    <>
      <h2>{domains.settings}</h2>
      <Form {...field} submit={context.texts.frame.save}>
        <PurposeFields {...field} productType={domain.productType} region={domain.region} />
        <Field
          {...field}
          name="trackingSubdomain"
          label={domains.trackingHost}
          value={domain.trackingSubdomain ?? ''}
          help={domains.trackingHostHelp(domain.name)}
        />
        <Checkbox
          {...field}
          name="openTracking"
          label={domains.openTracking}
          isChecked={domain.openTracking}
        />
        <Checkbox
          {...field}
          name="clickTracking"
          label={domains.clickTracking}
          isChecked={domain.clickTracking}
        />
        <Checkbox
          {...field}
          name="ed25519"
          label={domains.ed25519}
          help={domains.ed25519Help}
          isChecked={domain.ed25519}
        />
      </Form>
    </>
  );
}

function Deletion({ context }: { context: TenantContext }) {
  const { domains } = context.texts;
  return (
    <>
      <h2>{domains.delete}</h2>
      <Disclosure label={domains.delete} isOpen={context.failed?.action === 'delete'}>
        <p>{domains.deleteText}</p>
        <p>
          <a href={context.at('/emails?status=queued')}>{domains.waitingEmails}</a>
        </p>
        <Form context={context} action="delete" submit={domains.deleteNow} isDangerous>
          {null}
        </Form>
      </Disclosure>
    </>
  );
}
