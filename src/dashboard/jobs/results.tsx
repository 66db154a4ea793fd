/** Shows the result of an import or an export: its state, its numbers, and the link to its file. */
import type { Static } from 'typebox';
import type { exportSchema } from '../../exports/schemas.ts';
import type { importSchema } from '../../imports/schemas.ts';
import { Facts, Sentence, Status, Time } from '../frame/elements.tsx';
import type { TenantContext } from '../page.ts';
import { JOB_TONES } from './tones.ts';

export type Import = Static<typeof importSchema>;
export type Export = Static<typeof exportSchema>;
type Job = Import | Export;

/** Returns true while a job goes on. */
export function isJobRunning({ status }: Pick<Job, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

type ResultProps<Of> = {
  context: TenantContext;
  job: Of;
  /** Path of the file with the refused rows, or of the exported one. */
  file: string;
};

export function ImportResult({ context, job, file }: ResultProps<Import>) {
  const { texts, formats } = context;
  const { jobs } = texts;
  const { sizeBytes, processedBytes, failed } = job;
  const counts = (['created', 'updated', 'skipped', 'failed'] as const).map(
    (name) => [jobs[`${name}Rows`], formats.number(job[name])] as const,
  );
  return (
    <>
      {isJobRunning(job) && (
        <>
          <p>{jobs.progressOf(formats.bytes(processedBytes), formats.bytes(sizeBytes))}</p>
          <progress aria-label={jobs.progress} value={processedBytes} max={Math.max(sizeBytes, 1)} />
        </>
      )}
      <JobFacts context={context} job={job} numbers={counts} />
      {failed > 0 && (
        <p>
          <a href={file}>{jobs.errors}</a>
        </p>
      )}
    </>
  );
}

export function ExportResult({ context, job, file }: ResultProps<Export>) {
  const { jobs } = context.texts;
  const { status, sizeBytes } = job;
  const size = sizeBytes === null ? '' : context.formats.bytes(sizeBytes);
  return (
    <>
      <JobFacts context={context} job={job} numbers={[[jobs.size, size]]} />
      {status === 'completed' && (
        <p>
          <a href={file}>{jobs.download}</a> <small>{jobs.kept}</small>
        </p>
      )}
    </>
  );
}

type JobFactsProps = {
  context: TenantContext;
  job: Job;
  numbers: readonly (readonly [label: string, value: string])[];
};

function JobFacts({ context, job, numbers }: JobFactsProps) {
  const { jobs } = context.texts;
  const { status, error, rows, createdAt, finishedAt } = job;
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
          [jobs.rows, context.formats.number(rows)],
          ...numbers,
          [jobs.created, <Time key="created" context={context} at={createdAt} />],
          ...(finishedAt === null
            ? []
            : [[jobs.finished, <Time key="ended" context={context} at={finishedAt} />] as const]),
        ]}
      />
      {error !== null && (
        <p class="notice">
          <Sentence context={context} text={error} />
        </p>
      )}
    </>
  );
}
