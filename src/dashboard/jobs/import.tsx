/** An import that was started: its progress, its result, and the file of the rows that were refused. */
import type { Static } from 'typebox';
import type { importSchema } from '../../imports/schemas.ts';
import { path } from '../calls.ts';
import { Facts, Heading, Status, Time } from '../frame/elements.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { definePage, type TenantContext } from '../page.ts';
import { JOB_TONES } from './tones.ts';

export type Import = Static<typeof importSchema>;

export const importPage = definePage({
  area: 'tenant',
  path: '/imports/:importId',
  within: '/audiences',
  async show(context) {
    const { api, texts, at } = context;
    const job = await api.get<Import>(pathOf(context));
    const { audienceId, id } = job;
    if (job.status === 'waiting' && audienceId !== null)
      return { to: at(`/audiences/${audienceId}/import/${id}`) };
    const isRunning = job.status === 'queued' || job.status === 'running';
    return {
      title: texts.jobs.import,
      isLive: isRunning,
      body: (
        <>
          <Heading title={`${texts.jobs.import}: ${texts.jobs.kinds[job.kind]}`}>
            {audienceId !== null && <a href={at(`/audiences/${audienceId}`)}>{texts.jobs.toAudience}</a>}
          </Heading>
          <Refreshed
            context={context}
            id="import"
            topic={workName(context.at(''), path`/imports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <Result context={context} job={job} isRunning={isRunning} />
          </Refreshed>
        </>
      ),
    };
  },
});

export const importErrorsPage = definePage({
  area: 'tenant',
  path: '/imports/:importId/errors',
  async show(context) {
    const { id } = await context.api.get<Import>(pathOf(context));
    const file = await context.api.stream(`${pathOf(context)}/errors`);
    return { file: { name: `${id}-errors.csv`, ...file } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/imports/${params['importId'] ?? ''}`;
}

type Props = { context: TenantContext; job: Import; isRunning: boolean };

function Result({ context, job, isRunning }: Props) {
  const { texts, formats, at } = context;
  const { jobs } = texts;
  const { status, error, sizeBytes, processedBytes } = job;
  const counts = (['rows', 'created', 'updated', 'skipped', 'failed'] as const).map(
    (name) => [labelOf(context, name), formats.number(job[name])] as const,
  );
  return (
    <>
      {isRunning && (
        <>
          <p>{jobs.progressOf(formats.bytes(processedBytes), formats.bytes(sizeBytes))}</p>
          <progress aria-label={jobs.progress} value={processedBytes} max={Math.max(sizeBytes, 1)} />
        </>
      )}
      <Facts
        facts={[
          [
            jobs.status,
            <Status key="status" tone={JOB_TONES[status]}>
              {jobs.statuses[status]}
            </Status>,
          ],
          ...counts,
          [jobs.created, <Time key="created" context={context} at={job.createdAt} />],
          ...(job.finishedAt === null
            ? []
            : [[jobs.finished, <Time key="ended" context={context} at={job.finishedAt} />] as const]),
        ]}
      />
      {error !== null && <p class="notice">{error}</p>}
      {job.failed > 0 && (
        <p>
          <a href={at(`/imports/${job.id}/errors`)}>{jobs.errors}</a>
        </p>
      )}
    </>
  );
}

function labelOf(
  { texts: { jobs } }: TenantContext,
  name: 'rows' | 'created' | 'updated' | 'skipped' | 'failed',
): string {
  return name === 'rows' ? jobs.rows : jobs[`${name}Rows`];
}
