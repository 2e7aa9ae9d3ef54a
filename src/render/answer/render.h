/* render.h - answers as text for people, as JSON for programs. */
#ifndef VRS_RENDER_ANSWER_RENDER_H
#define VRS_RENDER_ANSWER_RENDER_H

#include "render/answer/result.h"
#include "render/write/human.h"
#include "render/write/out.h"

/* What every renderer is asked for. */
struct render_options {
    struct style style;
    bool picture;     /* an area, else one line */
    bool stacks;      /* whole stacks under the rows of text */
    uint32_t rows;    /* 0: the verb's default */
    const char *tool; /* version */
};

/* One answer, or with `several` a set of them.  Failures are those of `out`. */
void report_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void report_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void peak_json(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options);
void peak_text(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options);
void replay_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void replay_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void diff_json(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options);
void diff_text(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options);
void oom_json(struct out *out, const struct answer_set *set, bool several,
              const struct render_options *options);
void oom_text(struct out *out, const struct answer_set *set, bool several,
              const struct render_options *options);
void leaks_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void leaks_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void fragments_json(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options);
void fragments_text(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options);
void steps_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void steps_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void categories_json(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options);
void categories_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options);
void advise_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void advise_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void check_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void check_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options);
void check_junit(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);
void report_markdown(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options);
void check_markdown(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options);
void check_sarif(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options);

#endif
