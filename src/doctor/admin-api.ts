/** Registers the operator's routes of the checks. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { isoTime } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import type { CheckApp, Finding } from './check.ts';
import { CHECKS } from './checks.ts';
import { examine, examineDomain } from './examine.ts';
import { showSettings } from './settings.ts';
import { readStatus } from './status.ts';
import { listCheckStates, listFindings, silenceCheck } from './store.ts';

/** The findings of the checks. `silenced` names the checks that send no mail. */
export type DoctorAnswer = { findings: Finding[]; silenced: string[] };

/** The findings of the last hourly run that were not `ok`, each with the time since which it has its level. */
export type StoredFindings = { findings: (Finding & { since: string })[]; silenced: string[] };

/** `check` is the name of the only check to run. */
const doctorQuery = Type.Object({
  domain: Type.Optional(Type.String({ maxLength: 255 })),
  check: Type.Optional(Type.Enum(CHECKS.map(({ name }) => name))),
});
const silenceSchema = Type.Object({ check: Type.String(), silenced: Type.Boolean() });

/** Registers `GET /doctor`, `GET /doctor/findings`, `POST /doctor/silence`, `GET /status` and `GET /settings`. */
export function registerDoctorAdmin(server: FastifyInstance, app: App & CheckApp): void {
  server.get<{ Querystring: Static<typeof doctorQuery> }>(
    '/doctor',
    { schema: { querystring: doctorQuery } },
    async ({ query: { domain, check } }): Promise<DoctorAnswer> => {
      const findings =
        domain === undefined ? (await examine(app, check)).findings : await examineDomain(app, domain);
      return { findings, silenced: await listSilenced(app) };
    },
  );
  server.get('/doctor/findings', async (): Promise<StoredFindings> => {
    const rows = await listFindings(app.db.read);
    const findings = rows.map(({ checkName: check, since, ...finding }) => ({
      ...finding,
      check,
      since: isoTime(since),
    }));
    return { findings, silenced: await listSilenced(app) };
  });
  server.get('/status', () => readStatus(app));
  server.get('/settings', () => showSettings(app.config));
  server.post<{ Body: Static<typeof silenceSchema> }>(
    '/doctor/silence',
    { schema: { body: silenceSchema } },
    async ({ body: { check, silenced } }) => {
      const names = CHECKS.map(({ name }) => name);
      if (!names.includes(check))
        throw invalid('check', `there is no check "${check}", only ${names.join(', ')}`);
      const silencedAt = silenced ? app.clock.now() : null;
      await app.db.commit(silenceCheck, { name: check, silencedAt });
      return { silenced: await listSilenced(app) };
    },
  );
}

async function listSilenced({ db }: Pick<App, 'db'>): Promise<string[]> {
  const states = await listCheckStates(db.read);
  return states.filter(({ silencedAt }) => silencedAt !== null).map(({ name }) => name);
}
