/** The page of an import of suppressions: its progress, its result, and the file of the rows that were refused. */
import { path } from '../../calls.ts';
import { Facts, Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { Progress } from '../../frame/progress.tsx';
import { JOB_TONES } from '../../jobs/tones.ts';
import { workName } from '../../live/topics.ts';
import { definePage, type TenantContext } from '../../page.ts';
import type { Import } from './files.tsx';

export const suppressionImportPage = definePage({
  area: 'tenant',
  path: '/suppressions/imports/:id',
  async show(context) {
    const { suppressions } = context.texts;
    const job = await context.api.get<Import>(pathOf(context));
    const isRunning = job.status === 'queued' || job.status === 'running';
    return {
      title: suppressions.import,
      isLive: isRunning,
      body: (
        <>
          <Heading title={suppressions.import}>
            <a href={context.at('/suppressions/files')}>{suppressions.files}</a>
          </Heading>
          <Progress
            context={context}
            label={suppressions.progress}
            topic={workName(context.at(''), path`/imports/${job.id}`)}
            isRunning={isRunning}
            share={job.sizeBytes === 0 ? undefined : job.processedBytes / job.sizeBytes}
          >
            <Result context={context} job={job} />
          </Progress>
        </>
      ),
    };
  },
});

/** The file of the rows that were refused. */
export const suppressionImportErrorsPage = definePage({
  area: 'tenant',
  path: '/suppressions/imports/:id/errors',
  async show(context) {
    const { bytes, mediaType } = await context.api.stream(`${pathOf(context)}/errors`);
    return { file: { name: `${context.params['id']}-errors.csv`, mediaType, bytes } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/imports/${params['id'] ?? ''}`;
}

function Result({ context, job }: { context: TenantContext; job: Import }) {
  const { suppressions } = context.texts;
  const { number } = context.formats;
  return (
    <>
      <Facts
        facts={[
          [
            suppressions.status,
            <Status key="status" tone={JOB_TONES[job.status]}>
              {suppressions.statuses[job.status]}
            </Status>,
          ],
          [suppressions.rows, number(job.rows)],
          [suppressions.created, number(job.created)],
          [suppressions.updated, number(job.updated)],
          [suppressions.known, number(job.skipped)],
          [suppressions.refused, number(job.failed)],
          [suppressions.startedAt, <Time key="started" context={context} at={job.createdAt} />],
        ]}
      />
      {job.error !== null && (
        <p class="notice">
          <Foreign text={job.error} />
        </p>
      )}
      {job.failed > 0 && (
        <p>
          <a href={`${context.path}/errors`}>{suppressions.errorsFile}</a>
        </p>
      )}
    </>
  );
}
