import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import type { InstalledRuntime } from './installRuntimes.js'
import type { Report, Setting } from './suite/types.js'

/** Milliseconds for all cases, on a machine that is busy with other things. */
const patience = 180_000

/** Runs the suite as a program, which has to end by itself. */
export async function playProgram(
  { executable = '', args = [] }: InstalledRuntime,
  project: string,
  setting: Setting,
): Promise<Report> {
  const program = [...args, 'program.mjs', JSON.stringify(setting)]
  const { stdout } = await promisify(execFile)(executable, program, {
    cwd: project,
    // Deno keeps what it compiled, and asks for newer versions of itself.
    env: { ...process.env, DENO_DIR: project, DENO_NO_UPDATE_CHECK: '1' },
    timeout: patience,
    killSignal: 'SIGKILL',
  }).catch(({ stderr }) => {
    // The message holds the whole command line, and with it the setting.
    throw new Error(String(stderr).trim() || 'It did not end in time.')
  })
  return JSON.parse(stdout)
}
