/** Events as JSON lines on one stream, notices for users on another. */
import type { View } from './view.ts';

export function jsonView(out: NodeJS.WritableStream, notices: NodeJS.WritableStream): View {
  return {
    event: (event) => void out.write(`${JSON.stringify(event)}\n`),
    refresh() {},
    notice: (line) => void notices.write(`${line}\n`),
    hold() {},
    release() {},
    end() {},
  };
}
