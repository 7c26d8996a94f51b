/**
 * A refusal in the place of a command's reply, as `command_record` keeps it: whoever asks for the command again gets the same refusal. Recorded
 * for repeats alone: an earlier try of the command may still be on its way, and must not take effect after its caller was refused.
 */
import { AppError, errorCodes } from '../errors.ts';

/** No reply of a command has a field of this name. */
const field = '$refused';

/** Whether the error says that the command had no effect and is not to be asked again. */
export function isFinalRefusal(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.retryAfterS !== undefined) return false;
  return errorCodes[error.code].retry === 'never' && error.code !== 'internal' && error.code !== 'reply_too_large';
}

/** What is recorded instead of a reply. */
export function refusalRecord({ code, message, issues }: AppError): object {
  return { [field]: issues === undefined ? { code, message } : { code, message, issues } };
}

/** The refusal that was recorded instead of a reply; undefined where a reply was. */
export function recordedRefusal(recorded: unknown): AppError | undefined {
  if (typeof recorded !== 'object' || recorded === null || !Object.hasOwn(recorded, field)) return undefined;
  const { code, message, issues } = (recorded as any)[field];
  return new AppError(code, message, issues === undefined ? {} : { issues });
}
