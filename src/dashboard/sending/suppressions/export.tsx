/** The page of an export of suppressions: its progress, and its file. */
import { path } from '../../calls.ts';
import { Facts, Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { Progress } from '../../frame/progress.tsx';
import { JOB_TONES } from '../../jobs/tones.ts';
import { workName } from '../../live/topics.ts';
import { definePage, type TenantContext } from '../../page.ts';
import type { Export } from './files.tsx';

export const suppressionExportPage = definePage({
  area: 'tenant',
  path: '/suppressions/exports/:id',
  async show(context) {
    const { texts, formats } = context;
    const { suppressions } = texts;
    const job = await context.api.get<Export>(pathOf(context));
    const isRunning = job.status === 'queued' || job.status === 'running';
    return {
      title: suppressions.export,
      isLive: isRunning,
      body: (
        <>
          <Heading title={suppressions.export}>
            <a href={context.at('/suppressions/files')}>{suppressions.files}</a>
          </Heading>
          <Progress
            context={context}
            topic={workName(context.at(''), path`/exports/${job.id}`)}
            label={suppressions.progress}
            isRunning={isRunning}
          >
            <Facts
              facts={[
                [
                  suppressions.status,
                  <Status key="status" tone={JOB_TONES[job.status]}>
                    {suppressions.statuses[job.status]}
                  </Status>,
                ],
                [suppressions.rows, formats.number(job.rows)],
                [suppressions.startedAt, <Time key="started" context={context} at={job.createdAt} />],
              ]}
            />
            {job.error !== null && (
              <p class="notice">
                <Foreign text={job.error} />
              </p>
            )}
            {job.status === 'completed' && (
              <p>
                <a href={`${context.path}/file`}>
                  {suppressions.download} ({formats.bytes(job.sizeBytes ?? 0)})
                </a>
              </p>
            )}
          </Progress>
        </>
      ),
    };
  },
});

/** The file of an export. */
export const suppressionExportFilePage = definePage({
  area: 'tenant',
  path: '/suppressions/exports/:id/file',
  async show(context) {
    const { bytes, mediaType } = await context.api.stream(`${pathOf(context)}/file`);
    return { file: { name: 'suppressions.csv', mediaType, bytes } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/exports/${params['id'] ?? ''}`;
}
