import type { ReactNode } from 'react'

const drawings: Readonly<Record<string, ReactNode>> = {
  'house-blend': (
    <>
      <path
        className="art-soft"
        d="M104 52h112l10 18v104a8 8 0 0 1-8 8H102a8 8 0 0 1-8-8V70z"
      />
      <path className="art-strong" d="M104 52h112l10 18H94z" />
      <rect
        className="art-paper"
        x="118"
        y="96"
        width="84"
        height="56"
        rx="6"
      />
      <path
        className="art-line"
        d="M146 136c-10-16 6-34 26-26 10 16-6 34-26 26Zm0 0c10-2 4-10 12-13s4-10 14-13"
      />
    </>
  ),
  'pour-over-kit': (
    <>
      <path
        className="art-soft"
        d="M124 118h72l14 50a12 12 0 0 1-12 15h-76a12 12 0 0 1-12-15z"
      />
      <path
        className="art-strong"
        d="M119 142h82l7 27a12 12 0 0 1-12 14h-72a12 12 0 0 1-12-14z"
      />
      <path className="art-paper" d="M108 54h104l-32 56h-40z" />
      <path
        className="art-line"
        d="M98 54h124M140 110h40v8h-40zM212 66c22-4 24 26-8 26"
      />
      <path className="art-line" d="M160 124v12" />
    </>
  ),
  'brewing-guide': (
    <>
      <rect
        className="art-strong"
        x="106"
        y="44"
        width="108"
        height="142"
        rx="8"
      />
      <path
        className="art-paper"
        d="M118 44h88a8 8 0 0 1 8 8v120a8 8 0 0 1-8 8h-88z"
      />
      <path className="art-line" d="M138 76h56M138 92h40" />
      <path
        className="art-soft"
        d="M140 120h44v16a16 16 0 0 1-16 16h-12a16 16 0 0 1-16-16z"
      />
      <path
        className="art-line"
        d="M184 124c14-2 14 20-2 18M152 112c-4-6 4-6 0-12M170 112c-4-6 4-6 0-12"
      />
    </>
  ),
  'mixed-crate': (
    <>
      <path className="art-paper" d="M112 62h36v62h-36zM172 62h36v62h-36z" />
      <path className="art-strong" d="M142 50h36v74h-36z" />
      <rect
        className="art-soft"
        x="90"
        y="100"
        width="140"
        height="84"
        rx="6"
      />
      <path className="art-line" d="M90 128h140M90 156h140" />
    </>
  ),
}

/** A picture of a product; its name stands beside it. */
export function ProductArt({ id }: { id: string }): ReactNode {
  return (
    <svg
      className="art"
      aria-hidden="true"
      viewBox="0 0 320 220"
      preserveAspectRatio="xMidYMid slice"
    >
      <rect className="art-ground" width="320" height="220" />
      <ellipse className="art-shade" cx="160" cy="188" rx="78" ry="9" />
      {drawings[id]}
    </svg>
  )
}
