import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { askServer, findPort, prepareServer } from './database.js'

/** A PostgreSQL with a base backup and an archive, as hosts keep them. */
export type ArchivedDatabase = {
  url: string
  /** Marks the moment to which `restore` goes back. */
  mark(): Promise<void>
  /**
   * Recovers the base backup to that moment, in place of what runs: the server
   * ends without a word, and another one answers at its address.
   */
  restore(): Promise<void>
  stop(): Promise<void>
}

export async function startArchivedDatabase(): Promise<ArchivedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-archive-'))
  const [data, base, archive] = ['data', 'base', 'archive'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  mkdirSync(archive)
  // The server may run as another user, who has to get through and to write.
  chmodSync(folder, 0o755)
  chmodSync(archive, 0o777)
  const port = await findPort()
  const url = (user: string) =>
    `postgres://${user}:${user}@127.0.0.1:${port}/${user}`
  const ask = (text: string) => askServer(url('postgres'), text)
  const flags = [
    ...['-c', 'archive_mode=on'],
    ...['-c', `archive_command=cp %p ${archive}/%f`],
  ]
  let running = prepareServer({ databaseDir: data, port, flags })
  await running.initialise()
  await running.start()
  await ask(`create role shop login password 'shop'`)
  await ask('create database shop owner shop')
  await copyWhileItRuns(url('postgres'), data, base)
  return {
    url: url('shop'),
    mark: async () => {
      await ask(`select pg_create_restore_point('backup')`)
    },
    restore: async () => {
      // What is written so far is archived, as by a host that archives always.
      await ask('select pg_switch_wal()')
      await running.stop()
      prepareRecovery(base, archive)
      running = prepareServer({ databaseDir: base, port, flags })
      await running.start()
      await untilWritable(ask)
    },
    stop: async () => {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function copyWhileItRuns(
  connectionString: string,
  from: string,
  to: string,
): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('base', fast => true)`)
    execFileSync('cp', ['-a', from, to])
    const { rows } = await client.query('select * from pg_backup_stop()')
    giveFile(to, 'backup_label', String(rows[0]?.labelfile))
  } finally {
    await client.end()
  }
  for (const name of ['postmaster.pid', 'postmaster.opts'])
    rmSync(join(to, name), { force: true })
  execFileSync('sh', ['-c', `rm -rf '${to}'/pg_wal/*`])
}

/** Writes a file that belongs to whom the folder belongs to. */
function giveFile(folder: string, name: string, text: string): void {
  const { uid, gid } = statSync(folder)
  writeFileSync(join(folder, name), text)
  chownSync(join(folder, name), uid, gid)
}

function prepareRecovery(folder: string, archive: string): void {
  giveFile(folder, 'recovery.signal', '')
  appendFileSync(
    join(folder, 'postgresql.auto.conf'),
    [
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_name = 'backup'`,
      `recovery_target_action = 'promote'`,
      '',
    ].join('\n'),
  )
}

async function untilWritable(
  ask: (text: string) => Promise<Record<string, unknown>[]>,
): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const [row] = await ask('select pg_is_in_recovery() as still').catch(
      () => [],
    )
    if (row?.still === false) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The backup was not recovered.')
}
