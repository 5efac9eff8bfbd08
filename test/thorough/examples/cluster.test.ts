import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const parts = ['patroni', 'etcd', 'haproxy', 'pgbouncer', 'envsubst']
const missing = parts.filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
)
if (missing.length > 0)
  process.stderr.write(
    `not installed: ${missing.join()} (Debian: apt-get install postgresql patroni etcd-server haproxy pgbouncer gettext-base): tests are skipped.\n`,
  )

test.runIf(missing.length === 0)(
  'a cluster whose leader dies and whose network is lost charges each purchase once, and loses none',
  { timeout: 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-report-'))
    const report = join(folder, 'report.json')
    const options = ['--minutes', '1.6', '--rate', '2', '--report', report]
    await promisify(execFile)(process.execPath, [
      '--import',
      'tsx',
      'examples/cluster/main.ts',
      ...options,
    ])
    const { purchases, ...told } = JSON.parse(readFileSync(report, 'utf8'))
    rmSync(folder, { recursive: true, force: true })
    expect(told).toMatchObject({
      accepted: purchases,
      problems: [],
      forgotten: 0,
      lost: [],
      chargedTwice: [],
      unpaidRefunds: 0,
      // All goes on by itself.
      processEnds: 0,
      recoveries: 0,
      isAudited: true,
    })
  },
)
