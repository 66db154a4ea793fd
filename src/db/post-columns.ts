/** Columns of whatever receives posts, and of what is posted: webhook endpoints and their deliveries, and routes and their messages. */
import { count, integer, nullable, text } from './table.ts';

/** Columns that describe a receiver of posts. */
export const RECEIVER_COLUMNS = {
  /** `failures`: no post had succeeded for days; `gone`: the receiver answered 410. Null while the receiver is enabled. */
  disabledReason: nullable(text<'manual' | 'failures' | 'gone'>()),
  disabledAt: nullable(integer()),
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: nullable(integer()),
  /** Time at which its owner or the operator was warned; null when not yet. */
  warnedAt: nullable(integer()),
  /** Number of failed posts since the last success. Posts that failed while the receiver was suspended count as one. */
  consecutiveFailures: count(),
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: nullable(integer()),
  secretSealed: text(),
};

/** Columns that describe the result of the last attempt. */
export const RESPONSE_COLUMNS = {
  responseStatus: nullable(integer()),
  responseTimeMs: nullable(integer()),
  responseBody: nullable(text()),
  error: nullable(text()),
};
