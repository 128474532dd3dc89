// Makes documents that pages of several commands have.
#include "sim/command/page/answer_page.hpp"

#include "sim/report/run/result_json.hpp"

namespace stepsim {

PageDocument causes_document() { return {"causes", json_text(cause_titles_json())}; }

}  // namespace stepsim
