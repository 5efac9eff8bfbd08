import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { folder, type Runtime, runtimes } from './runtimes.js'

export type InstalledRuntime = Runtime & {
  /** Why it is not here, where it is not. */
  missing?: string | undefined
}

/** Installs what the lockfile of this folder names, and nothing else. */
export function installRuntimes(): InstalledRuntime[] {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...args, '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('The runtimes could not be installed.')
  return runtimes.map((runtime) => {
    const executable =
      runtime.executable && join(folder, 'node_modules', runtime.executable)
    if (!executable) return runtime
    const missing = existsSync(executable) ? undefined : 'not installed'
    return { ...runtime, executable, missing }
  })
}

/** npm has the programs for this platform only. */
export const hasPrograms: boolean =
  process.platform === 'linux' && process.arch === 'x64'
