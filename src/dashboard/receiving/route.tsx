/** An inbound route: its address and destination, how its posts go, and what changes it. */
import type { Static } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { testResultSchema } from '../../webhooks/schemas.ts';
import { Copyable, Facts, Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { ActionButton, Checkbox, Disclosure, Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../page.ts';
import { type Route, RouteStatus } from './routes.tsx';

/** Returns the path of the route of the page in the API. */
function routeOf({ params }: Pick<TenantContext, 'params'>): string {
  return path`/inbound/routes/${params['id'] ?? ''}`;
}

export const routePage = definePage({
  area: 'tenant',
  path: '/routes/:id',
  async show(context) {
    const { api, texts } = context;
    const route = await api.get<Route>(routeOf(context));
    return {
      title: route.address,
      body: (
        <>
          <Heading title={route.address}>
            <a href={context.at(`/inbound?routeId=${route.id}`)}>{texts.inbound.title}</a>
          </Heading>
          <About context={context} route={route} />
          {context.can('write') && <Actions context={context} route={route} />}
        </>
      ),
    };
  },
  actions: {
    change: {
      logs: ['address', 'enabled'],
      async run(context, form) {
        await context.api.patch(routeOf(context), {
          address: fieldOf(form, 'address').trim(),
          destination: fieldOf(form, 'destination').trim(),
          enabled: form.values('enabled').includes('on'),
        });
        return { to: context.path, said: 'saved' };
      },
    },
    test: {
      isAudited: false,
      async run(context) {
        const result = await context.api.post<TestResult>(`${routeOf(context)}/test`);
        const { routes } = context.texts;
        return {
          title: routes.testTitle,
          body: (
            <>
              <Heading title={routes.testTitle} />
              <Result context={context} result={result} />
              <p>
                <a href={context.path}>{routes.back}</a>
              </p>
            </>
          ),
        };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(routeOf(context));
        return { to: context.at('/routes'), said: 'deleted' };
      },
    },
  },
});

type TestResult = Static<typeof testResultSchema>;
type Props = { context: TenantContext; route: Route };

function About({ context, route }: Props) {
  const { routes, frame } = context.texts;
  const time = (at: string | null) => (at === null ? frame.none : <Time context={context} at={at} />);
  return (
    <Facts
      facts={[
        [routes.destination, <Foreign text={route.destination} />],
        [routes.status, <RouteStatus context={context} route={route} />],
        [routes.failingSince, time(route.failingSince)],
        [routes.suspendedUntil, time(route.suspendedUntil)],
        [routes.waitingSince, time(route.waitingSince)],
        [routes.disabledAt, time(route.disabledAt)],
        [routes.createdAt, <Time context={context} at={route.createdAt} />],
        ['Id', <Copyable context={context} text={route.id} />],
      ]}
    />
  );
}

function Actions({ context, route }: Props) {
  const { routes, frame } = context.texts;
  const field = { context, action: 'change', isRequired: true };
  return (
    <div class="buttons">
      <ActionButton context={context} action="test" submit={routes.test} />
      <Disclosure label={frame.edit} isOpen={context.failed?.action === 'change'}>
        <Form context={context} action="change" submit={frame.save}>
          <Field {...field} name="address" label={routes.address} value={route.address} />
          <Field
            {...field}
            name="destination"
            type="url"
            label={routes.destination}
            value={route.destination}
            help={routes.destinationHelp}
          />
          <Checkbox
            context={context}
            action="change"
            name="enabled"
            label={routes.isEnabled}
            isChecked={route.enabled}
            help={routes.isEnabledHelp}
          />
        </Form>
      </Disclosure>
      <Disclosure label={frame.delete} isOpen={context.failed?.action === 'delete'}>
        <Form context={context} action="delete" submit={frame.delete} isDangerous>
          <p>{routes.removeText(route.address)}</p>
        </Form>
      </Disclosure>
    </div>
  );
}

function Result({ context, result }: { context: TenantContext; result: TestResult }) {
  const { routes } = context.texts;
  const { delivered, responseStatus, responseTimeMs, error } = result;
  return (
    <Facts
      facts={[
        [
          routes.testResult,
          <Status tone={delivered ? 'good' : 'bad'}>
            {delivered ? routes.delivered : routes.notDelivered}
          </Status>,
        ],
        [routes.responseStatus, responseStatus === null ? context.texts.frame.none : String(responseStatus)],
        [routes.responseTime, responseTimeMs === null ? '' : `${context.formats.number(responseTimeMs)} ms`],
        ...(error === null ? [] : [[routes.error, <Foreign text={error} />] as const]),
      ]}
    />
  );
}
