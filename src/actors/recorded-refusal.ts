/**
 * A refusal recorded in place of a command's reply in `command_record`: every repeat of the command gets the same refusal. Recorded only
 * for repeats: an earlier try of the command may still be in transit, and must not take effect after its caller was refused.
 */
import { AppError, errorCodes } from '../errors.ts';

/** No reply of a command has a field of this name. */
const field = '$refused';

/** Whether the error means that the command had no effect and must not be tried again. */
export function isFinalRefusal(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.retryAfterS !== undefined) return false;
  return errorCodes[error.code].retry === 'never' && error.code !== 'internal' && error.code !== 'reply_too_large';
}

/** The record of a refusal, in place of a reply. */
export function refusalRecord({ code, message, issues }: AppError): object {
  return { [field]: issues === undefined ? { code, message } : { code, message, issues } };
}

/** The refusal that was recorded in place of a reply; undefined if a reply was. */
export function recordedRefusal(recorded: unknown): AppError | undefined {
  if (typeof recorded !== 'object' || recorded === null || !Object.hasOwn(recorded, field)) return undefined;
  const { code, message, issues } = (recorded as any)[field];
  return new AppError(code, message, issues === undefined ? {} : { issues });
}
