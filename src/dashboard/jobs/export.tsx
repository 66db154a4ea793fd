/** An export: its progress, and the link to its file. */
import type { Static } from 'typebox';
import type { exportSchema } from '../../exports/schemas.ts';
import { path } from '../calls.ts';
import { Facts, Heading, Status, Time } from '../frame/elements.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { definePage, type TenantContext } from '../page.ts';
import { JOB_TONES } from './tones.ts';

type Export = Static<typeof exportSchema>;

export const exportPage = definePage({
  area: 'tenant',
  path: '/exports/:exportId',
  within: '/audiences',
  async show(context) {
    const { api, texts } = context;
    const job = await api.get<Export>(pathOf(context));
    const isRunning = job.status === 'queued' || job.status === 'running';
    return {
      title: texts.jobs.export,
      isLive: isRunning,
      body: (
        <>
          <Heading title={`${texts.jobs.export}: ${texts.jobs.kinds[job.kind]}`} />
          <Refreshed
            context={context}
            id="export"
            topic={workName(context.at(''), path`/exports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <ExportFacts context={context} job={job} />
          </Refreshed>
        </>
      ),
    };
  },
});

export const exportFilePage = definePage({
  area: 'tenant',
  path: '/exports/:exportId/file',
  async show(context) {
    const { id, kind } = await context.api.get<Export>(pathOf(context));
    const file = await context.api.stream(`${pathOf(context)}/file`);
    return { file: { name: `${kind}-${id}.csv`, ...file } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/exports/${params['exportId'] ?? ''}`;
}

function ExportFacts({ context, job }: { context: TenantContext; job: Export }) {
  const { texts, formats, at } = context;
  const { jobs } = texts;
  const { id, status, error, rows, sizeBytes, createdAt, finishedAt } = job;
  return (
    <>
      <Facts
        facts={[
          [
            jobs.status,
            <Status key="status" tone={JOB_TONES[status]}>
              {jobs.statuses[status]}
            </Status>,
          ],
          [jobs.rows, formats.number(rows)],
          [jobs.size, sizeBytes === null ? '' : formats.bytes(sizeBytes)],
          [jobs.created, <Time key="created" context={context} at={createdAt} />],
          ...(finishedAt === null
            ? []
            : [[jobs.finished, <Time key="ended" context={context} at={finishedAt} />] as const]),
        ]}
      />
      {error !== null && <p class="notice">{error}</p>}
      {status === 'completed' && (
        <p>
          <a href={at(`/exports/${id}/file`)}>{jobs.download}</a> <small>{jobs.kept}</small>
        </p>
      )}
    </>
  );
}
