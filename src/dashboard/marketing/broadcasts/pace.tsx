/** How fast a broadcast is sent: the fields of a form, and the words for it. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import type { Form } from '../../../http/pages/form-body.ts';
import { invalid } from '../../../system/errors.ts';
import { Field, Select } from '../../frame/forms.tsx';
import { localTimeOf, momentOf } from '../../local-time.ts';
import { fieldOf, type TenantContext } from '../../page.ts';

type Pace = ShownBroadcast['pace'];

const KINDS = ['none', 'perHour', 'perDay', 'finishBy'] as const;

/** Fields of the form that the audit log has. */
export const PACE_LOGS = ['pace', 'paceNumber', 'pace.finishBy'] as const;

type Props = { context: TenantContext; action: string; pace: Pace };

export function PaceFields({ context, action, pace }: Props) {
  const { texts, formats } = context;
  const { broadcasts } = texts;
  const field = { context, action };
  const { perHour, perDay, finishBy } = pace ?? {};
  return (
    <>
      <Select
        {...field}
        name="pace"
        label={broadcasts.pace}
        value={KINDS.find((kind) => kind !== 'none' && pace?.[kind] !== undefined) ?? 'none'}
        options={KINDS.map((value) => ({ value, label: broadcasts.paces[value] }))}
      />
      <Field
        {...field}
        name="paceNumber"
        type="number"
        label={broadcasts.paceNumber}
        value={String(perHour ?? perDay ?? '')}
      />
      <Field
        {...field}
        name="pace.finishBy"
        type="datetime-local"
        label={broadcasts.paceUntil(formats.timeZone)}
        value={finishBy === undefined ? '' : localTimeOf(finishBy, formats.timeZone)}
      />
    </>
  );
}

/**
 * Returns the pace of a form.
 * @throws AppError validation_error for a time that is none
 */
export function readPaceOf({ formats }: TenantContext, form: Form): Pace {
  const kind = fieldOf(form, 'pace');
  if (kind === 'perHour' || kind === 'perDay') return { [kind]: Number(fieldOf(form, 'paceNumber')) };
  if (kind !== 'finishBy') return null;
  return { finishBy: readMoment(fieldOf(form, 'pace.finishBy'), 'pace.finishBy', formats.timeZone) };
}

/**
 * Returns the moment that a field of a form means, in ISO 8601.
 * @throws AppError validation_error naming the field
 */
export function readMoment(local: string, name: string, timeZone: string): string {
  const moment = momentOf(local, timeZone);
  if (moment === undefined) throw invalid(name, `\`${name}\` must be a date and a time`);
  return new Date(moment).toISOString();
}

/** Returns the pace in words. */
export function paceText({ texts, formats }: TenantContext, pace: Pace): string {
  const { paces, paceOf } = texts.broadcasts;
  if (pace?.perHour !== undefined) return paceOf.perHour(formats.number(pace.perHour));
  if (pace?.perDay !== undefined) return paceOf.perDay(formats.number(pace.perDay));
  if (pace?.finishBy !== undefined) return paceOf.finishBy(formats.time(pace.finishBy));
  return paces.none;
}
